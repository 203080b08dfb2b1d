// One stream, fed by an EventSource: its state as it is, and its last frames.

import { counted, el, empty, sign, time } from './element.js'

/** @typedef {{ entity: string, name: string, ops: string[] }} Wanted */

const MAX_FRAMES = 100
const EVENTS = ['entity.create', 'entity.update', 'entity.delete', 'gap', 'message']
/** @type {Record<string, string>} */
const GAPS = {
  dropped: 'Events were dropped because this page did not read fast enough.',
  trimmed: 'What came before is no longer in the log.',
  truncated: 'The table was emptied at once.',
  other_log: 'This is another log than the one the stream began in.',
}

export class Card {
  #wanted
  #remove
  /** @type {EventSource | null} */
  #source = null
  #count = 0
  /** @type {MessageEvent<string>[]} Those that came since the page was last painted. */
  #arrived = []
  #lastId = ''
  #state = el('span', { class: 'state', role: 'status' })
  #tally = el('span', { class: 'tally' })
  #why = el('p', { class: 'why', hidden: true })
  #frames = el('ol', { class: 'frames', reversed: true })
  #waiting = empty('No event yet. Change a row under Write, and it appears here.')
  #toggle = el('button', { class: 'small', type: 'button', onclick: () => this.#switch() })
  #removal = el(
    'button',
    { class: 'small', type: 'button', hidden: true, onclick: () => this.#remove() },
    'Remove',
  )

  /**
   * @param {Wanted} wanted
   * @param {() => void} remove
   */
  constructor(wanted, remove) {
    this.#wanted = wanted
    this.#remove = remove
    const title = wanted.name ? `${wanted.entity} / ${wanted.name}` : wanted.entity
    for (const button of [this.#toggle, this.#removal]) {
      button.setAttribute('aria-description', `stream ${title}`)
    }
    this.element = el(
      'article',
      { class: 'card', 'aria-label': `Stream ${title}` },
      el(
        'header',
        {},
        el('h3', {}, title),
        wanted.ops.length > 0 && el('span', { class: 'only' }, `only ${wanted.ops.join(', ')}`),
        this.#state,
        el('span', { class: 'actions' }, this.#removal, this.#toggle),
      ),
      this.#why,
      this.#waiting,
      this.#frames,
      el('footer', {}, this.#tally, el('code', { class: 'address' }, this.#address())),
    )
    this.#connect()
  }

  /** Whether it has a connection, or is after one. */
  get isLive() {
    return this.#source !== null
  }

  #address() {
    const { entity, name, ops } = this.#wanted
    const query = new URLSearchParams()
    if (name) query.set('name', name)
    if (ops.length > 0) query.set('ops', ops.join())
    const text = query.toString().replaceAll('%2C', ',')
    return `/subscribe/${encodeURIComponent(entity)}${text && `?${text}`}`
  }

  #connect() {
    const address = this.#address()
    const since = this.#lastId && `since=${encodeURIComponent(this.#lastId)}`
    const url = since ? `${address}${address.includes('?') ? '&' : '?'}${since}` : address
    const source = new EventSource(url)
    this.#source = source
    let wasOpen = false
    source.onopen = () => {
      wasOpen = true
      this.#say('open')
    }
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) {
        this.#close('closed by the server')
        this.#explain(url)
      } else if (wasOpen) {
        const place = this.#lastId ? `after ${this.#lastId}` : 'where it began'
        this.#say('reconnecting', `It resumes ${place}.`)
      } else this.#say('connecting', 'The server does not answer yet.')
    }
    for (const type of EVENTS) source.addEventListener(type, (event) => this.#add(event))
    this.#say('connecting')
    this.#showCount()
  }

  #switch() {
    if (this.#source) this.#close()
    else this.#connect()
  }

  /** @param {string} [text] */
  #close(text = 'closed') {
    this.#source?.close()
    this.#source = null
    const place = this.#lastId ? ` Opened again, it goes on after ${this.#lastId}.` : ''
    this.#say('closed', place.trim(), text)
  }

  /**
   * An EventSource does not tell why it was refused, and another request does.
   *
   * @param {string} url
   */
  async #explain(url) {
    const controller = new AbortController()
    try {
      const response = await fetch(url, { signal: controller.signal })
      if (response.ok) return
      const { error } = await response.json()
      this.#say('closed', `${error.message} (${response.status} ${error.code})`, 'refused')
    } catch (error) {
      this.#say('closed', `The server does not answer: ${error}`)
    } finally {
      controller.abort()
    }
  }

  /**
   * @param {'connecting' | 'open' | 'reconnecting' | 'closed'} state
   * @param {string} [why]
   * @param {string} [text]
   */
  #say(state, why = '', text = state) {
    this.element.dataset.state = state
    if (this.#state.textContent !== text) this.#state.textContent = text
    this.#why.textContent = why
    this.#why.hidden = why === ''
    this.#toggle.textContent = this.#source ? 'Close' : 'Open again'
    this.#removal.hidden = this.#source !== null
  }

  /** @param {MessageEvent<string>} event */
  #add(event) {
    this.#lastId = event.lastEventId
    this.#count += 1
    if (this.#arrived.length === 0) requestAnimationFrame(() => this.#showArrived())
    this.#arrived.push(event)
    if (this.#arrived.length > MAX_FRAMES) this.#arrived.shift()
  }

  #showArrived() {
    this.#waiting.remove()
    this.#frames.prepend(...this.#arrived.splice(0).reverse().map(frame))
    while (this.#frames.childElementCount > MAX_FRAMES) this.#frames.lastElementChild?.remove()
    this.#showCount()
  }

  #showCount() {
    const kept = this.#count > MAX_FRAMES ? `, the last ${MAX_FRAMES} of them here` : ''
    this.#tally.textContent = `${counted(this.#count, 'event')}${kept}`
  }
}

/** @param {MessageEvent<string>} event */
function frame({ type, data, lastEventId }) {
  const told = JSON.parse(data)
  const raw = [`id: ${lastEventId}`, `event: ${type}`]
  raw.push(...data.split('\n').map((line) => `data: ${line}`))
  const isGap = type === 'gap'
  const what = isGap
    ? el(
        'span',
        { class: 'subject' },
        `gap: ${GAPS[told.reason] ?? told.reason} Read the rows again.`,
      )
    : el('span', { class: 'subject' }, told.subject)
  return el(
    'li',
    { class: isGap ? 'frame gap' : 'frame', 'data-subject': told.subject },
    el(
      'details',
      {},
      el(
        'summary',
        {},
        sign(told.operation ?? type),
        what,
        !isGap && el('span', { class: 'type' }, type),
        told.time ? time(new Date(told.time)) : null,
        el('code', { class: 'id' }, lastEventId),
      ),
      el('pre', { tabindex: '0', 'aria-label': 'the frame as it came' }, raw.join('\n')),
    ),
  )
}

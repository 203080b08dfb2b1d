// A client of entity streams that shows what it received: connections, and events behind them.

import { request } from 'node:http'
import { createParser } from 'eventsource-parser'

/** @typedef {{ id: string | undefined, event: string | undefined, data: any }} Received */

/** One connection to a stream. */
export class Reader {
  /** @type {import('node:http').ClientRequest} */
  #request
  /** @type {import('node:http').IncomingMessage | null} */
  response = null
  /** @type {Received[]} */
  events = []
  /** @type {string[]} */
  comments = []
  text = ''
  isOver = false
  /** @type {Set<() => void>} */
  #waiting = new Set()

  /**
   * @param {string} url
   * @param {{ lastEventId?: string, headers?: Record<string, string> }} [options]
   */
  constructor(url, { lastEventId, headers = {} } = {}) {
    const parser = createParser({
      onEvent: ({ id, event, data }) => this.events.push({ id, event, data: JSON.parse(data) }),
      onComment: (comment) => this.comments.push(comment),
    })
    const sent = { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
    this.#request = request(url, { headers: sent, agent: false })
    this.#request.on('response', (response) => {
      this.response = response
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        this.text += chunk
        parser.feed(chunk)
        this.#changed()
      })
      response.on('error', () => undefined)
      response.on('close', () => this.#over())
      this.#changed()
    })
    this.#request.on('error', () => this.#over())
    this.#request.end()
  }

  /** The id that a browser would show when it connects again. */
  get lastId() {
    const blocks = this.text.split('\n\n').slice(0, -1)
    const ids = blocks.flatMap((block) => /^id: (.*)$/m.exec(block)?.[1] ?? [])
    return ids.at(-1)
  }

  /** The subjects of its events, gaps apart. */
  get subjects() {
    return this.events.flatMap(({ event, data }) => (event === 'gap' ? [] : [data.subject]))
  }

  /**
   * Waits until something holds of it, and gives itself.
   *
   * @param {(reader: Reader) => unknown} holds
   */
  async until(holds) {
    while (!holds(this)) {
      if (this.isOver) throw new Error(`the stream is over: ${this.text.slice(-500)}`)
      await new Promise((resolve) => this.#waiting.add(() => resolve(null)))
    }
    return this
  }

  /** Waits until it is open: a stream's first bytes are there. */
  open() {
    return this.until(({ text }) => text.includes('\nid: '))
  }

  /** Waits until it is over. */
  async over() {
    while (!this.isOver) await new Promise((resolve) => this.#waiting.add(() => resolve(null)))
    return this
  }

  pause() {
    this.response?.pause()
  }

  resume() {
    this.response?.resume()
  }

  /** Leaves, by a FIN or by a reset. */
  leave({ reset = false } = {}) {
    const { socket } = this.#request
    if (reset) socket?.resetAndDestroy()
    else this.#request.destroy()
  }

  #over() {
    this.isOver = true
    this.#changed()
  }

  #changed() {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}

/**
 * Waits until a condition holds that nobody tells of.
 *
 * @param {() => unknown} holds
 */
export async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

// The section of counters: where every event that matched has gone.

import { byId, el, empty } from './element.js'

const PARTS = ['delivered', 'dropped', 'withheld', 'failed', 'pending']
const OTHERS = { activeSubscriptions: 'open streams', published: 'published', filtered: 'filtered' }
const COLUMNS = ['active', 'matched', ...PARTS, 'filtered']
const number = new Intl.NumberFormat('en')

export class Counters {
  #place = byId('counts')
  #sum = el('div', {})
  #table = el('div', {
    class: 'scroll',
    role: 'region',
    'aria-label': 'Counters by subscription',
    tabindex: '0',
  })

  constructor() {
    this.#place.append(empty('Connecting …'))
  }

  lock() {
    this.#place.replaceChildren(empty('These are for the owner: give the token above.'))
  }

  /** @param {Record<string, any>} stats */
  show(stats) {
    const sum = PARTS.reduce((total, part) => total + stats[part], 0)
    const equals = sum === stats.matched ? '=' : '≠'
    const others = Object.entries(OTHERS).map(([name, text]) =>
      el('span', {}, el('b', {}, number.format(stats[name])), ` ${text} `),
    )
    this.#sum.replaceChildren(
      el(
        'p',
        { class: 'equation' },
        term(stats.matched, 'matched', ''),
        ...PARTS.map((part, index) => term(stats[part], part, index > 0 ? '+' : equals)),
      ),
      el('p', { class: 'others' }, ...others),
    )
    this.#table.replaceChildren(table(stats.subscriptions))
    if (!this.#table.isConnected) this.#place.replaceChildren(this.#sum, this.#table)
  }
}

/**
 * @param {number} count
 * @param {string} kind
 * @param {string} operator before it
 */
function term(count, kind, operator) {
  return el(
    'span',
    { class: 'term', 'data-kind': kind, 'data-zero': count === 0 },
    operator !== '' && el('span', { class: 'operator' }, `${operator} `),
    el('span', {}, el('b', {}, number.format(count)), ` ${kind} `),
  )
}

/** @param {Record<string, any>[]} subscriptions */
function table(subscriptions) {
  const head = ['stream', ...COLUMNS].map((name) => el('th', { scope: 'col' }, name))
  const rows = subscriptions.map((it) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, `${it.entity} / ${it.subscription}`),
      ...COLUMNS.map((name) => el('td', { class: 'number' }, number.format(it[name]))),
    ),
  )
  return el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))
}

// The section of the log: each commit as it grows, the newest first.

import { byId, counted, el, empty, sign, time } from './element.js'

const MAX_COMMITS = 100
const NEEDS_OWNER = 'This is for the owner: give the token above.'

export class Log {
  #place = byId('commits')
  #list = el('ol', { class: 'commits', reversed: true })

  constructor() {
    this.#place.append(empty('Connecting …'))
  }

  lock() {
    this.#list.replaceChildren()
    this.#place.replaceChildren(empty(NEEDS_OWNER))
  }

  /**
   * @param {{ commits: any[], missed: boolean }} answer
   * @param {boolean} isAnew whether another process gave it than the one before
   */
  add({ commits, missed }, isAnew) {
    if (isAnew) this.#mark('The server was started again.')
    else if (missed) this.#mark('More was committed here than the server keeps for this page.')
    for (const it of commits) this.#list.prepend(it.gap ? gap(it) : commit(it))
    while (this.#list.childElementCount > MAX_COMMITS) this.#list.lastElementChild?.remove()
    if (this.#list.childElementCount === 0) {
      this.#place.replaceChildren(empty('No commit yet. Write a row, and it appears here.'))
    } else if (!this.#list.isConnected) {
      const label = { class: 'scroll', role: 'region', 'aria-label': 'Commits', tabindex: '0' }
      this.#place.replaceChildren(el('div', label, this.#list))
    }
  }

  /** @param {string} text */
  #mark(text) {
    if (this.#list.childElementCount > 0) this.#list.prepend(el('li', { class: 'mark' }, text))
  }
}

/** @param {{ seq: number, gap: { reason: string } }} missed */
function gap({ seq, gap: { reason } }) {
  return el('li', { class: 'mark' }, `Gap: what came before ${seq} could not be read (${reason}).`)
}

/** @param {any} commit */
function commit({ seq, txId, commitTime, part, size, entries }) {
  const rest = size - entries.length
  return el(
    'li',
    { class: 'commit', 'data-seq': seq },
    el(
      'p',
      { class: 'head' },
      el('span', { class: 'seq', title: 'seq: the number of its last entry' }, `${seq}`),
      el('span', { class: 'tx' }, `transaction ${txId}${part ? `, part ${part}` : ''}`),
      el('span', { class: 'size' }, counted(size, 'entry', 'entries')),
      time(new Date(commitTime)),
    ),
    el('ul', { class: 'entries' }, ...entries.map(entry)),
    rest > 0 && el('p', { class: 'rest' }, `and ${counted(rest, 'more entry', 'more entries')}`),
  )
}

/** @param {any} entry */
function entry({ op, relation, unchanged = [], new: made, old }) {
  const name =
    relation.namespace === 'public' ? relation.name : `${relation.namespace}.${relation.name}`
  const pairs =
    op === 'update' ? difference(relation.keyColumns, old, made) : all(made ?? old ?? {})
  return el(
    'li',
    { class: 'entry', 'data-op': op },
    sign(op),
    el('span', { class: 'relation' }, name),
    ...pairs,
    unchanged.length > 0 && el('span', { class: 'rest' }, `unchanged: ${unchanged.join(', ')}`),
  )
}

/** @param {Record<string, unknown>} row */
function all(row) {
  return Object.entries(row).map(([column, it]) => pair(column, value(it)))
}

/**
 * The key, and what is other than before.
 *
 * @param {string[]} key
 * @param {Record<string, unknown>} old
 * @param {Record<string, unknown>} made
 */
function difference(key, old, made) {
  const isOther = (/** @type {string} */ column) =>
    JSON.stringify(old[column]) !== JSON.stringify(made[column])
  const columns = Object.keys(made)
  const changed = columns.filter(isOther).map((column) => {
    return pair(column, el('del', {}, value(old[column])), '→', el('ins', {}, value(made[column])))
  })
  return [
    ...columns
      .filter((column) => key.includes(column) && !isOther(column))
      .map((column) => pair(column, value(made[column]))),
    ...(changed.length > 0 ? changed : [el('span', { class: 'rest' }, 'nothing else changed')]),
  ]
}

/**
 * @param {string} column
 * @param {...(Node | string)} values
 */
function pair(column, ...values) {
  const spaced = values.flatMap((it) => [' ', it])
  return el('span', { class: 'pair' }, el('span', { class: 'name' }, column), ...spaced)
}

/** @param {unknown} it */
export function value(it) {
  if (it === null || it === undefined) return el('span', { class: 'null' }, 'null')
  if (it === '') return el('span', { class: 'null' }, 'empty')
  return el('span', { class: 'value' }, typeof it === 'string' ? it : JSON.stringify(it))
}

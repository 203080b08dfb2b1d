// What the engine itself takes for an entry and for a commit, over a log that is already in memory.

import { Boundary, Input, Kind } from '../js/boundary.js'
import { Loop } from '../js/loop.js'
import { Log, MemoryStore } from './log.js'
import { inNs, inUs, turns } from './measure.js'

/** No more than a subscription holds at once: with more, most would only be read later. */
const ROWS = 64
const READINGS = 160
const COMMITS = 5_000
const ROUNDS = 7

/** @returns {Promise<[string, string][]>} */
export async function engine() {
  return [...(await perEntry()), ...(await perCommit())]
}

/** Readings of single-row commits, for somebody who asks for another table and for one who takes them. */
async function perEntry() {
  const log = new Log(ROWS * READINGS * (ROUNDS + 1))
  const reader = (/** @type {unknown} */ selector, /** @type {number} */ expected) => {
    const boundary = open()
    let ask = subscribe(boundary, log, selector)
    let seq = 0
    return () => {
      for (let readings = 0; readings < READINGS; readings++) {
        const bytes = log.answer({ after: seq, to: seq + ROWS })
        seq += ROWS
        const records = boundary.input(Input.rows, ask, bytes) ?? []
        const commits = records.filter(({ kind }) => kind === Kind.commit).length
        if (commits !== expected)
          throw new Error(`${commits} commits of ${expected} were delivered`)
        boundary.input(Input.ack, 0, ack(1, seq))
        ask = asked(boundary.input(Input.wake, 0, '')) ?? ask
      }
    }
  }
  const ms = await turns(ROUNDS, {
    elsewhere: reader({ public: 'elsewhere' }, 0),
    orders: reader({ public: 'orders' }, ROWS),
  })
  const each = READINGS * ROWS
  return /** @type {[string, string][]} */ ([
    ['an entry of ten columns decoded and routed, for nobody', inNs(ms.elsewhere / each)],
    ['an entry of ten columns decoded, routed and encoded', inNs(ms.orders / each)],
  ])
}

/** Single-row commits through the whole loop to one callback, with subscriptions to other tables standing by. */
async function perCommit() {
  const log = new Log(COMMITS * (ROUNDS + 1))
  /** @type {[string, string][]} */
  const figures = []
  for (const others of [0, 1_000, 10_000]) {
    const store = new MemoryStore(log)
    const loop = new Loop(store, {}, console.error)
    const declared = []
    for (let index = 0; index < others; index++) {
      const selector = { public: [`other${index % 100}%`] }
      declared.push(loop.subscribe(selector, 'now', () => undefined, undefined))
    }
    await Promise.all(declared)
    let arrived = (/** @type {number} */ _seq) => undefined
    await loop.subscribe({ public: ['orders'] }, 'now', ({ seq }) => arrived(seq), undefined)
    const ms = await turns(ROUNDS, {
      commits: () =>
        new Promise((/** @type {(value: void) => void} */ resolve) => {
          store.head += COMMITS
          arrived = (seq) => {
            if (seq === store.head) resolve()
            return undefined
          }
          loop.wake()
        }),
    })
    const count = others.toLocaleString('en')
    figures.push([
      `a commit to one callback, ${count} subscriptions on other tables`,
      inUs(ms.commits / COMMITS),
    ])
    await loop.close()
  }
  return figures
}

function open() {
  return new Boundary({ quarantine: [] }, { stopped: () => undefined, begun: () => undefined })
}

/**
 * Subscribes at the beginning of a log, and gives the number of the reading asked for.
 *
 * @param {Boundary} boundary
 * @param {Log} log
 * @param {unknown} selector
 */
function subscribe(boundary, log, selector) {
  const declaration = JSON.stringify({ selector, since: 'now' })
  const first = asked(boundary.input(Input.subscribe, 1, declaration)) ?? 0
  boundary.input(Input.rows, first, log.answer({ after: 0, to: 0, withRelations: true }))
  return asked(boundary.input(Input.wake, 0, '')) ?? 0
}

/** @param {import('../js/boundary.js').Record[] | null} records */
function asked(records) {
  return records?.find(({ kind }) => kind === Kind.readLog)?.id
}

/**
 * @param {number} id
 * @param {number} seq
 */
function ack(id, seq) {
  const payload = new Uint8Array(12)
  const view = new DataView(payload.buffer)
  view.setUint32(0, id, true)
  view.setBigUint64(4, BigInt(seq), true)
  return payload
}

// The newest commits, as JSON for the page: a bounded ring, and those who wait for the next.

/** @import { Commit, Entry, MillstreamError, Row } from '../types/index.js' */

const MAX_COMMITS = 200
const MAX_TEXT = 8 * 1024 * 1024
const MAX_ENTRIES = 100
/** Longer values are shown by their beginning. */
const MAX_VALUE = 2_000

/** @typedef {{ seq: number, text: string }} Kept */

export class RecentCommits {
  /** @type {Kept[]} */
  #kept = []
  #size = 0
  /** The newest that was let go of. */
  #forgotten = 0
  /** @type {Set<() => void>} */
  #waiting = new Set()

  /** The number of the newest. */
  last = 0

  /** @param {Commit} commit */
  add(commit) {
    this.#push(commit.seq, { ...shown(commit) })
  }

  /**
   * What was missed is kept too, as a place in the log.
   *
   * @param {unknown} error
   */
  addGap(error) {
    const { gap } = /** @type {MillstreamError} */ (error)
    if (gap) this.#push(gap.seq, { seq: gap.seq, gap })
  }

  /**
   * The JSON of those after a number, and whether some in between are no longer kept.
   *
   * @param {number} seq
   */
  after(seq) {
    const commits = this.#kept.filter((it) => it.seq > seq).map((it) => it.text)
    return { commits, missed: seq < this.#forgotten }
  }

  /**
   * Calls back once, at the next commit, unless that is called off.
   *
   * @param {() => void} wake
   * @returns {() => void}
   */
  next(wake) {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }

  /**
   * @param {number} seq
   * @param {object} value
   */
  #push(seq, value) {
    const text = JSON.stringify(value, safe)
    this.#kept.push({ seq, text })
    this.#size += text.length
    this.last = seq
    while (this.#kept.length > MAX_COMMITS || (this.#size > MAX_TEXT && this.#kept.length > 1)) {
      const oldest = /** @type {Kept} */ (this.#kept.shift())
      this.#size -= oldest.text.length
      this.#forgotten = oldest.seq
    }
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}

/** @param {Commit} commit */
function shown({ seq, txId, commitTime, entries, part }) {
  return {
    seq,
    txId,
    commitTime,
    part,
    size: entries.length,
    entries: entries.slice(0, MAX_ENTRIES).map((entry) => ({
      op: entry.op,
      relation: entry.relation,
      unchanged: entry.unchanged,
      new: 'new' in entry ? shortened(entry.new) : undefined,
      old: 'old' in entry ? shortened(entry.old) : undefined,
    })),
  }
}

/** @param {Row} row */
function shortened(row) {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, safe)
      if (text.length <= MAX_VALUE) return [column, value]
      return [column, `${text.slice(0, MAX_VALUE)}… (${text.length} characters)`]
    }),
  )
}

/**
 * What JSON has no form for: digits past 2^53 as text, bytes as base64.
 *
 * @param {string} _key
 * @param {unknown} value
 */
export function safe(_key, value) {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value
}

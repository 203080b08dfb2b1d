// A log's answer to a reading, in the form of PostgreSQL's protocol: what a store hands to the engine.

const encoder = new TextEncoder()
/** When every entry was logged. */
const TIME_MS = '1796071960989'
const columns = [
  ['id', 'bigint'],
  ['title', 'text'],
  ['status', 'text'],
  ['amount', 'numeric'],
  ['tax', 'double precision'],
  ['paid', 'boolean'],
  ['note', 'text'],
  ['customer', 'integer'],
  ['at', 'timestamp with time zone'],
  ['tags', 'text[]'],
].map(([name, type]) => ({ name, type }))
const names = ['orders', 'elsewhere']

/** A log whose rows are made beforehand: each a commit of one insert into `public.orders`. */
export class Log {
  #rows
  /** Where each row begins, and where the last one ends. */
  #starts = [0]

  /** @param {number} length how many rows it will ever have */
  constructor(length) {
    const messages = []
    for (let seq = 1; seq <= length; seq++) {
      const record = `(${seq},"order ${seq}",placed,12.50,0.19,t,"a note, quoted",42,"2026-01-01 00:00:00+00","{a,b}")`
      const made = row([String(seq), String(seq), TIME_MS, '1', 'i', null, record])
      messages.push(made)
      this.#starts.push((this.#starts.at(-1) ?? 0) + made.length)
    }
    this.#rows = concatenate(messages)
  }

  /**
   * The answer to a reading of rows `after` + 1 to `to`.
   *
   * @param {{ after: number, to: number, head?: number, withRelations?: boolean }} reading
   */
  answer({ after, to, head = to, withRelations = false }) {
    const messages = [row(['epoch', '1', String(head), TIME_MS]), complete]
    if (withRelations) messages.push(...relations)
    const rows = this.#rows.subarray(this.#starts[after], this.#starts[to])
    return concatenate([...messages, complete, rows, complete, idle])
  }
}

/** A log in memory, as a loop reads it, that is as long as `head` says. */
export class MemoryStore {
  head = 0
  namespace = 'public'
  #log

  /** @param {Log} log */
  constructor(log) {
    this.#log = log
  }

  /** @param {import('../js/loop.js').ReadBounds} bounds */
  async read({ after, relationAfter, maxRows }) {
    const to = Math.max(after, Math.min(this.head, after + maxRows))
    const withRelations = relationAfter === 0
    return this.#log.answer({ after, to, head: this.head, withRelations })
  }

  async trim() {
    return undefined
  }

  async guarded() {
    return []
  }

  async probe() {
    return false
  }
}

const complete = message('C', encoder.encode('SELECT\0'))
const idle = message('Z', encoder.encode('I'))
const relations = names.map((name, index) => {
  const id = String(index + 1)
  return row([id, id, 'public', name, '["id"]', JSON.stringify(columns), 'f'])
})

/** @param {(string | null)[]} values */
function row(values) {
  const parts = [new Uint8Array([0, values.length])]
  for (const value of values) {
    const text = value === null ? new Uint8Array() : encoder.encode(value)
    const length = new Uint8Array(4)
    new DataView(length.buffer).setInt32(0, value === null ? -1 : text.length)
    parts.push(length, text)
  }
  return message('D', concatenate(parts))
}

/**
 * @param {string} tag
 * @param {Uint8Array} body
 */
function message(tag, body) {
  const bytes = new Uint8Array(body.length + 5)
  bytes[0] = tag.charCodeAt(0)
  new DataView(bytes.buffer).setUint32(1, body.length + 4)
  bytes.set(body, 5)
  return bytes
}

/** @param {Uint8Array[]} parts */
function concatenate(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

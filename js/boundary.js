// The engine as the host sees it: an input goes in, records come out, and a stop inside wasm is survived.

import { Engine, reset } from '#runtime'

/** What the engine is told; the numbers of `src/record.rs`. */
export const Input = /** @type {const} */ ({
  subscribe: 1,
  unsubscribe: 2,
  rows: 3,
  failed: 4,
  saved: 5,
  wake: 6,
  tick: 7,
  ack: 8,
  sql: 9,
  open: 10,
  close: 11,
  request: 12,
  read: 13,
  full: 14,
  ready: 15,
  gone: 16,
  statistics: 17,
})

/** What the engine tells; the numbers of `src/record.rs`. */
export const Kind = /** @type {const} */ ({
  readLog: 1,
  trim: 2,
  relation: 3,
  commit: 4,
  gap: 5,
  started: 6,
  closed: 7,
  fault: 8,
  script: 9,
  wait: 10,
  opened: 11,
  read: 12,
  respond: 13,
  frames: 14,
  statistics: 15,
})

const HEADER_BYTES = 32
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * One record, its bytes copied out of wasm memory.
 *
 * @typedef {object} Record
 * @property {number} kind
 * @property {number} flags
 * @property {number} id
 * @property {number} seq
 * @property {Uint32Array} subscriptions
 * @property {Uint8Array} payload
 */

/**
 * All engines of the module. A stop inside one leaves the memory of all in doubt, so all begin anew.
 *
 * @type {Set<Boundary>}
 */
const open = new Set()

/** How often the module has begun anew. What was made in it before that is gone. */
export let generation = 0

/**
 * @typedef {object} Recovery
 * @property {(seq: number) => void} stopped the engine stopped at the commit that ends with this entry, or
 *   at none it could name: 0
 * @property {() => void} begun another engine stands in for it, or for one beside it
 */

/** An engine, replaced by a new one whenever the module has stopped. */
export class Boundary {
  /** @type {Engine} */
  #engine = /** @type {any} */ (null)
  /** @type {WebAssembly.Memory} */
  #memory = /** @type {any} */ (null)
  /** Where the engine notes the commit in hand. It cannot be asked once it has stopped. */
  #inFlight = 0
  #recovery

  /**
   * @param {import('../pkg/engine.js').EngineOptions & { quarantine: number[] }} options
   * @param {Recovery} recovery
   */
  constructor(options, recovery) {
    /** What the next engine is opened with. */
    this.options = options
    this.#recovery = recovery
    this.#begin()
    open.add(this)
  }

  #begin() {
    this.#engine = new Engine(JSON.stringify(this.options))
    this.#memory = /** @type {WebAssembly.Memory} */ (this.#engine.memory())
    this.#inFlight = this.#engine.in_flight_ptr() >>> 0
  }

  /**
   * Hands over one input and drains what follows from it. Gives null where the engine stopped instead and
   * was replaced.
   *
   * @param {number} kind
   * @param {number} id
   * @param {Uint8Array | string} payload
   * @returns {Record[] | null}
   */
  input(kind, id, payload) {
    try {
      const length = this.#write(payload)
      const produced = this.#engine.input(kind, id, length, Date.now())
      return this.#read(produced)
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error
      this.#recover()
      return null
    }
  }

  close() {
    if (open.delete(this)) this.#engine.free()
  }

  /** @param {Uint8Array | string} payload */
  #write(payload) {
    if (typeof payload !== 'string') {
      const at = this.#engine.reserve(payload.length)
      this.#bytes(at, payload.length).set(payload)
      return payload.length
    }
    // A UTF-16 unit is at most three bytes of UTF-8.
    const room = payload.length * 3
    const at = this.#engine.reserve(room)
    return encoder.encodeInto(payload, this.#bytes(at, room)).written
  }

  /**
   * @param {number} at
   * @param {number} length
   */
  #bytes(at, length) {
    // Never kept: memory may grow in any call, and its old views die with that.
    return new Uint8Array(this.#memory.buffer, at >>> 0, length)
  }

  /** @param {number} length */
  #read(length) {
    const bytes = this.#bytes(this.#engine.out_ptr(), length).slice()
    const view = new DataView(bytes.buffer)
    /** @type {Record[]} */
    const records = []
    for (let at = 0; at < length; ) {
      const count = view.getUint32(at + 20, true)
      const payload = at + HEADER_BYTES + 4 * count
      const end = payload + view.getUint32(at + 16, true)
      // Little-endian, as every machine is that runs wasm.
      const subscriptions = new Uint32Array(bytes.buffer, at + HEADER_BYTES, count)
      records.push({
        kind: bytes[at] ?? 0,
        flags: bytes[at + 1] ?? 0,
        id: view.getUint32(at + 4, true),
        seq: Number(view.getBigUint64(at + 8, true)),
        subscriptions,
        payload: bytes.subarray(payload, end),
      })
      at = (end + 3) & ~3
    }
    return records
  }

  /** The memory of a stopped engine can still be read; nothing in it can be called. */
  #recover() {
    const seq = new DataView(this.#memory.buffer).getBigUint64(this.#inFlight, true)
    reset()
    generation += 1
    this.#recovery.stopped(Number(seq))
    for (const boundary of open) boundary.#begin()
    for (const boundary of open) boundary.#recovery.begun()
  }
}

/**
 * The payload of a record as the JSON it is.
 *
 * @param {Record} record
 * @returns {any}
 */
export function json(record) {
  return JSON.parse(decoder.decode(record.payload))
}

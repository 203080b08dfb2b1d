// Entity streams on the host's side: requests go to the engine, what it answers goes to their sinks.

import { Input, json, Kind } from './boundary.js'

/** @import { Record } from './boundary.js' */

/**
 * Where a response goes.
 *
 * @typedef {object} Sink
 * @property {(status: number, headers: [string, string][], body: string | null) => void} respond a whole response
 * @property {(status: number, headers: [string, string][]) => void} open the head of a stream
 * @property {(bytes: Uint8Array) => boolean} write frames; false when it has no room for more, of which
 *   `Connection.drained` tells the end
 * @property {() => void} end the stream is over
 * @property {(error: Error) => void} fail there will be no answer
 *
 * @typedef {import('../pkg/engine.js').RequestFacts} RequestFacts
 *
 * @typedef {object} Host
 * @property {(kind: number, id: number, payload: string) => void} input
 * @property {() => number} nextId
 * @property {(relation: { namespace: string, name: string }) => Promise<boolean>} read reads a row as any caller,
 *   and tells whether the database guards the relation's rows
 * @property {(error: unknown) => void} report
 */

const NO_PLACE = 2
const WITHIN = 1

/** The streams of one engine. */
export class Streams {
  #host
  /** @type {Map<number, Connection>} */
  #connections = new Map()
  /** @type {{ payload: object, isOpen: boolean, settle: (refusals: any[]) => void, fail: (error: Error) => void } | null} */
  #declared = null
  /** @type {Map<string, Promise<boolean>>} Reads under way: one serves all who connect meanwhile. */
  #reads = new Map()
  /** @type {any} */
  #statistics = null

  /** @param {Host} host */
  constructor(host) {
    this.#host = host
  }

  /** Whether a schema is declared. */
  get isDeclared() {
    return this.#declared !== null
  }

  /**
   * Declares a schema, and gives what is wrong with it.
   *
   * @param {object} payload
   * @returns {Promise<import('./types/index.js').SchemaRefusal[]>}
   */
  async open(payload) {
    const text = JSON.stringify(payload)
    const refusals = await new Promise((settle, fail) => {
      this.#declared = { payload, isOpen: false, settle, fail }
      this.#host.input(Input.open, 0, text)
    })
    if (refusals.length > 0) this.#declared = null
    return refusals
  }

  /** Ends every stream with its closing frame. */
  close() {
    this.#host.input(Input.close, 0, '')
    this.#declared = null
  }

  /**
   * Hands a request to the engine, whose answer goes to the sink.
   *
   * @param {RequestFacts} facts
   * @param {Sink} sink
   */
  request(facts, sink) {
    const id = this.#host.nextId()
    const text = JSON.stringify(facts)
    const connection = new Connection(id, facts, sink, {
      drained: () => this.#host.input(Input.ready, id, ''),
      gone: () => {
        if (this.#connections.delete(id)) this.#host.input(Input.gone, id, '')
      },
    })
    this.#connections.set(id, connection)
    this.#host.input(Input.request, id, text)
    return connection
  }

  /** What was counted; null where nothing is open. */
  statistics() {
    this.#statistics = null
    this.#host.input(Input.statistics, 0, '')
    return this.#statistics
  }

  /**
   * Does as a record says, and tells whether it was one of these.
   *
   * @param {Record} record
   */
  act(record) {
    switch (record.kind) {
      case Kind.opened:
        if (this.#declared) {
          this.#declared.isOpen = true
          this.#declared.settle(json(record))
        }
        return true
      case Kind.read:
        this.#read(record)
        return true
      case Kind.respond:
        this.#respond(record)
        return true
      case Kind.frames:
        this.#frames(record)
        return true
      case Kind.closed:
        return this.#end(record.id)
      case Kind.statistics:
        this.#statistics = json(record)
        return true
      default:
        return false
    }
  }

  /** Another engine stands in: it is told of the schema, and of every stream, each from where it stands. */
  begun() {
    if (this.#declared) {
      const { payload, isOpen } = this.#declared
      this.#host.input(Input.open, 0, JSON.stringify({ ...payload, resumes: isOpen }))
    }
    for (const { id, facts, reached, began, isFull } of this.#connections.values()) {
      const resumes = reached && { ...reached, began }
      this.#host.input(Input.request, id, JSON.stringify({ ...facts, ...(resumes && { resumes }) }))
      if (isFull) this.#host.input(Input.full, id, '')
    }
  }

  /** @param {Error} error */
  fail(error) {
    this.#declared?.fail(error)
    for (const connection of this.#connections.values()) {
      if (connection.reached) connection.sink.end()
      else connection.sink.fail(error)
    }
    this.#connections.clear()
  }

  /** @param {Record} record */
  async #read(record) {
    /** @type {object} */
    let outcome
    try {
      /** @type {{ namespace: string, name: string }[]} */
      const relations = json(record)
      const guarded = await Promise.all(relations.map((relation) => this.#readOnce(relation)))
      outcome = { guarded: guarded.includes(true) }
    } catch (error) {
      outcome = { [isDenial(error) ? 'denied' : 'failed']: String(error) }
    }
    this.#host.input(Input.read, record.id, JSON.stringify(outcome))
  }

  /** @param {{ namespace: string, name: string }} relation */
  #readOnce(relation) {
    const key = JSON.stringify([relation.namespace, relation.name])
    let read = this.#reads.get(key)
    if (!read) {
      read = this.#host.read(relation).finally(() => this.#reads.delete(key))
      this.#reads.set(key, read)
    }
    return read
  }

  /** @param {Record} record */
  #respond(record) {
    const connection = this.#connections.get(record.id)
    if (!connection) return
    const { status, headers, body } = json(record)
    if (record.flags === 1) {
      this.#guard(connection, () => connection.sink.open(status, headers))
      return
    }
    this.#connections.delete(record.id)
    this.#guard(connection, () => connection.sink.respond(status, headers, body))
  }

  /**
   * Does something to a sink. One that throws is its own client's trouble, and nobody else's.
   *
   * @template T
   * @param {Connection} connection
   * @param {() => T} work
   */
  #guard(connection, work) {
    try {
      return work()
    } catch (error) {
      connection.gone()
      this.#host.report(error)
      return undefined
    }
  }

  /** @param {Record} record */
  #frames({ flags, seq, subscriptions, payload }) {
    const reached = { seq, within: flags === WITHIN }
    // A client that is slow to take it would keep the whole drain that it is a part of.
    const bytes = payload.slice()
    for (let index = 0; index < subscriptions.length; index++) {
      const id = /** @type {number} */ (subscriptions[index])
      const connection = this.#connections.get(id)
      if (!connection) continue
      if (flags !== NO_PLACE) connection.reached = reached
      const hasRoom = this.#guard(connection, () => connection.sink.write(bytes))
      if (hasRoom === false && !connection.isFull) {
        connection.isFull = true
        this.#host.input(Input.full, id, '')
      }
    }
  }

  /** @param {number} id */
  #end(id) {
    const connection = this.#connections.get(id)
    if (!connection) return false
    this.#connections.delete(id)
    this.#guard(connection, () => connection.sink.end())
    return true
  }
}

/** A request with its sink. */
export class Connection {
  #tell

  /** @type {{ seq: number, within: boolean } | null} Where its stream stands, once it has begun. */
  reached = null
  /** When it was asked for. */
  began = Date.now()
  isFull = false

  /**
   * @param {number} id
   * @param {RequestFacts} facts
   * @param {Sink} sink
   * @param {{ drained: () => void, gone: () => void }} tell
   */
  constructor(id, facts, sink, tell) {
    this.id = id
    this.facts = facts
    this.sink = sink
    this.#tell = tell
  }

  /** The sink has room again. */
  drained() {
    if (!this.isFull) return
    this.isFull = false
    this.#tell.drained()
  }

  /** The client is gone. */
  gone() {
    this.#tell.gone()
  }
}

/**
 * Whether the database itself refused, for want of a right or of the table, by the class of its SQLSTATE.
 *
 * @param {any} error
 */
function isDenial(error) {
  return /^(42|3F)[0-9A-Z]{3}$/.test(error?.code ?? '')
}

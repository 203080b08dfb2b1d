// The loop between the engine and the world. It decides nothing: inputs go in one after the other, records
// come out, and each is done as it says.
//
// Its rules:
// - Only `#pump` calls the engine, and a call during a pump waits for its turn.
// - Records are acted on before the next input; callbacks run in microtasks of their own, later.
// - What comes back from an await belongs to the engine that asked for it, or is dropped.
// - One reading and one trimming are under way at most, since the engine asks for no more.
// - One timer, the one that the engine's last record asks for.

import { Boundary, Input, json, Kind } from './boundary.js'
import { freezeDeep, LazyCommit } from './commit.js'
import { MillstreamError } from './error.js'
import { Streams } from './streams.js'
import { Subscription } from './subscription.js'

/** @import { Record } from './boundary.js' */
/** @import { Commit } from './types/index.js' */

/**
 * Where the log is kept.
 *
 * @typedef {object} Store
 * @property {(bounds: ReadBounds) => Promise<Uint8Array>} read
 * @property {(order: TrimOrder) => Promise<void>} trim
 * @property {string} namespace where relations are that name none
 * @property {() => Promise<[namespace: string, name: string][]>} guarded the relations whose rows the database
 *   shows to some and not to others
 * @property {(relation: { namespace: string, name: string }) => Promise<boolean>} probe reads a row of a
 *   relation, and tells whether it is guarded
 *
 * @typedef {{ after: number, relationAfter: number, maxRows: number, maxBytes: number }} ReadBounds
 * @typedef {{ to: number, before: number, limit: number }} TrimOrder
 */

/** How often the engine may stop within a minute before it is given up. */
const MAX_STOPS = 5
const MINUTE_MS = 60_000
const ENGINE_FAILED =
  `the engine stopped ${MAX_STOPS} times within a minute and is given up; writes go on as before. ` +
  'Open a new client to subscribe again'
/** The longest a JavaScript timer waits; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** An engine at work over one log. */
export class Loop {
  #store
  #report
  #boundary
  /** @type {[kind: number, id: number, payload: Uint8Array | string][]} */
  #inputs = []
  #pumping = false
  /** Counts engines, so that what an old one asked for does not answer a new one. */
  #generation = 0
  /** @type {Map<number, Subscription>} */
  #subscriptions = new Map()
  #lastId = 0
  /** @type {import('./commit.js').Relations} */
  #relations = new Map()
  /** @type {Set<Subscription>} Those with a commit taken that the engine does not know of. */
  #unacked = new Set()
  #streams = new Streams({
    input: (kind, id, payload) => this.#input(kind, id, payload),
    nextId: () => this.#nextId(),
    read: (relation) => this.#store.probe(relation),
    report: (error) => this.#report(error),
  })
  #isOpeningStreams = false
  /** @type {Record | null} */
  #script = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {number[]} When the engine stopped. */
  #stops = []
  /** @type {Map<number, number>} How often it stopped at an entry. */
  #stopsAt = new Map()
  /** @type {MillstreamError | null} */
  #failure = null

  /**
   * @param {Store} store
   * @param {import('../pkg/engine.js').EngineOptions} options
   * @param {(error: unknown) => void} report
   */
  constructor(store, options, report) {
    this.#store = store
    this.#report = report
    this.#boundary = new Boundary(
      { ...options, quarantine: [] },
      { stopped: (seq) => this.#stopped(seq), begun: () => this.#begun() },
    )
  }

  /**
   * @param {unknown} selector
   * @param {unknown} since
   * @param {((commit: Commit) => unknown) | undefined} callback
   * @param {((error: unknown) => void) | undefined} onError
   */
  async subscribe(selector, since, callback, onError) {
    if (this.#failure) throw this.#failure
    const host = {
      took: (/** @type {Subscription} */ it) => this.#took(it),
      leave: (/** @type {Subscription} */ it, /** @type {boolean} */ fromCallback) => {
        this.#input(Input.unsubscribe, it.id, new Uint8Array([fromCallback ? 1 : 0]))
      },
      report: this.#report,
    }
    const subscription = new Subscription(this.#nextId(), { selector, since }, callback, host)
    if (onError) subscription.on('error', onError)
    this.#subscriptions.set(subscription.id, subscription)
    this.#declare(subscription)
    await subscription.started.promise
    return subscription
  }

  /** Somebody may have committed. */
  wake() {
    this.#input(Input.wake, 0, '')
  }

  /**
   * Splits a script, or refuses it where it would end a transaction it does not own. An engine that has
   * stopped keeps nobody from writing: the script is then to be sent as it is.
   *
   * @param {string} sql
   * @param {boolean} within whether it is to run inside a transaction body
   * @returns {import('../pkg/engine.js').Script}
   */
  split(sql, within) {
    this.#script = null
    this.#input(Input.sql, 0, `${within ? '\u0001' : '\0'}${sql}`)
    const record = /** @type {Record | null} */ (this.#script)
    if (!record) return { opens: false, steps: [sql] }
    const answer = json(record)
    if (record.flags === 1) throw new MillstreamError(answer.code, answer.message)
    return answer
  }

  /**
   * Declares what streams there are, and gives what is wrong with that.
   *
   * @param {unknown} schema
   * @param {string} tenant
   */
  async openStreams(schema, tenant) {
    if (this.#failure) throw this.#failure
    if (this.#isOpeningStreams || this.#streams.isDeclared) {
      const message = 'a Millstream is open over this client already: close it first'
      throw new MillstreamError('already_open', message)
    }
    this.#isOpeningStreams = true
    try {
      const guarded = await this.#store.guarded()
      if (this.#failure) throw this.#failure
      const { namespace } = this.#store
      return await this.#streams.open({ schema, tenant, namespace, guarded })
    } finally {
      this.#isOpeningStreams = false
    }
  }

  /**
   * Hands a request to the engine, whose answer goes to the sink.
   *
   * @param {import('./streams.js').RequestFacts} facts
   * @param {import('./streams.js').Sink} sink
   */
  request(facts, sink) {
    if (this.#failure) throw this.#failure
    return this.#streams.request(facts, sink)
  }

  /** What was counted of streams. */
  streamStatistics() {
    if (this.#failure) throw this.#failure
    return this.#streams.statistics()
  }

  /** Ends every stream. */
  closeStreams() {
    this.#streams.close()
  }

  /** Ends every subscription, each after what it still has to be given, and then the engine. */
  async close() {
    this.closeStreams()
    await Promise.all([...this.#subscriptions.values()].map((it) => it.abort()))
    // Whoever subscribed meanwhile is told.
    this.fail(closed())
    this.#boundary.close()
  }

  /**
   * Gives up: every subscription ends with this error.
   *
   * @param {MillstreamError} error
   */
  fail(error) {
    this.#failure ??= error
    clearTimeout(this.#timer)
    for (const subscription of this.#subscriptions.values()) subscription.end(error)
    this.#subscriptions.clear()
    this.#streams.fail(error)
  }

  #nextId() {
    this.#lastId += 1
    return this.#lastId
  }

  /**
   * @param {number} kind
   * @param {number} id
   * @param {Uint8Array | string} payload
   */
  #input(kind, id, payload) {
    if (this.#failure) return
    this.#inputs.push([kind, id, payload])
    if (!this.#pumping) this.#pump()
  }

  #pump() {
    this.#pumping = true
    try {
      for (let next = this.#inputs.shift(); next && !this.#failure; next = this.#inputs.shift()) {
        for (const record of this.#boundary.input(...next) ?? []) this.#act(record)
      }
    } finally {
      this.#pumping = false
    }
  }

  /** @param {Record} record */
  #act(record) {
    if (this.#streams.act(record)) return
    switch (record.kind) {
      case Kind.readLog:
        return this.#readLog(record)
      case Kind.trim:
        return this.#trim(record)
      case Kind.relation:
        this.#relations.set(record.id, freezeDeep(json(record)))
        return
      case Kind.commit: {
        const commit = new LazyCommit(record.seq, record.payload, this.#relations)
        for (const id of record.subscriptions) this.#subscriptions.get(id)?.push(commit)
        return
      }
      case Kind.gap:
        return this.#gap(record)
      case Kind.started:
        this.#subscriptions.get(record.id)?.begin(record.seq)
        return
      case Kind.closed: {
        const refusal = record.payload.length > 0 ? json(record) : null
        const error = refusal && new MillstreamError(refusal.code, refusal.message)
        this.#subscriptions.get(record.id)?.end(error ?? undefined)
        this.#subscriptions.delete(record.id)
        return
      }
      case Kind.fault: {
        const { code, message } = json(record)
        this.#report(new MillstreamError(code, message))
        return
      }
      case Kind.script:
        this.#script = record
        return
      case Kind.wait:
        return this.#wait(record.seq)
      default:
        throw new TypeError(`the engine gave a record of the unknown kind ${record.kind}`)
    }
  }

  /** @param {Record} record */
  #readLog({ flags, id, seq, payload }) {
    const view = new DataView(payload.buffer, payload.byteOffset)
    const [relationAfter, maxRows, maxBytes] = [0, 4, 8].map((at) => view.getUint32(at, true))
    const bounds = /** @type {ReadBounds} */ ({ after: seq, relationAfter, maxRows, maxBytes })
    const read = () => this.#store.read(bounds)
    this.#answer(id, flags === 1 ? turn().then(read) : read(), (bytes) =>
      this.#input(Input.rows, id, bytes),
    )
  }

  /** @param {Record} record */
  #trim({ id, payload }) {
    const view = new DataView(payload.buffer, payload.byteOffset)
    const to = Number(view.getBigUint64(0, true))
    const before = Number(view.getBigUint64(8, true))
    this.#answer(id, this.#store.trim({ to, before, limit: view.getUint32(16, true) }), () =>
      this.#input(Input.saved, id, ''),
    )
  }

  /**
   * Hands an answer of the store to the engine that asked for it, if that is still at work.
   *
   * @template T
   * @param {number} id
   * @param {Promise<T>} answer
   * @param {(value: T) => void} done
   */
  async #answer(id, answer, done) {
    const generation = this.#generation
    const isCurrent = () => generation === this.#generation && !this.#failure
    try {
      const value = await answer
      if (isCurrent()) done(value)
    } catch (error) {
      if (error instanceof MillstreamError) this.fail(error)
      else if (isCurrent()) this.#input(Input.failed, id, String(error))
    }
  }

  /** @param {Record} record */
  #gap(record) {
    const gap = json(record)
    for (const id of record.subscriptions) {
      const subscription = this.#subscriptions.get(id)
      if (!subscription) continue
      subscription.reached = record.seq
      const message = `commits up to ${record.seq} could not be delivered (${gap.reason}): read the tables again`
      subscription.fail(new MillstreamError('gap', message, { gap: { ...gap, seq: record.seq } }))
    }
  }

  /** @param {number} until */
  #wait(until) {
    clearTimeout(this.#timer)
    if (until >= Number.MAX_SAFE_INTEGER) return
    const delay = Math.min(Math.max(until - Date.now(), 0), MAX_TIMER_MS)
    this.#timer = setTimeout(() => this.#input(Input.tick, 0, ''), delay)
  }

  /** @param {Subscription} subscription */
  #took(subscription) {
    if (this.#unacked.size === 0) queueMicrotask(() => this.#ack())
    this.#unacked.add(subscription)
  }

  /** Tells the engine at once of everything taken since it was last told. */
  #ack() {
    const payload = new Uint8Array(12 * this.#unacked.size)
    const view = new DataView(payload.buffer)
    let at = 0
    for (const { id, taken } of this.#unacked) {
      view.setUint32(at, id, true)
      view.setBigUint64(at + 4, BigInt(taken), true)
      at += 12
    }
    this.#unacked.clear()
    this.#input(Input.ack, 0, payload)
  }

  /** @param {Subscription} subscription */
  #declare({ id, declaration, reached }) {
    const since = reached ?? declaration.since
    const resumes = reached !== null
    this.#input(Input.subscribe, id, JSON.stringify({ ...declaration, since, resumes }))
  }

  /**
   * The engine stopped: twice at one entry, and that entry is put aside; too often, and it is given up.
   *
   * @param {number} seq
   */
  #stopped(seq) {
    const now = Date.now()
    this.#stops = [...this.#stops.filter((at) => now - at < MINUTE_MS), now]
    if (this.#stops.length >= MAX_STOPS) {
      return this.fail(new MillstreamError('engine_failed', ENGINE_FAILED))
    }
    if (seq === 0) return
    const times = (this.#stopsAt.get(seq) ?? 0) + 1
    this.#stopsAt.set(seq, times)
    if (times < 2) return
    this.#stopsAt.delete(seq)
    this.#boundary.options.quarantine.push(seq)
    const message = `the commit of entry ${seq} stopped the engine twice and is passed over`
    this.#report(new MillstreamError('poison', message))
  }

  /** A new engine stands in: it is told of every subscription, each from where it stands. */
  #begun() {
    this.#generation += 1
    this.#relations = new Map()
    this.#unacked.clear()
    clearTimeout(this.#timer)
    for (const subscription of this.#subscriptions.values()) {
      subscription.rewind()
      this.#declare(subscription)
      if (subscription.leaving) this.#input(Input.unsubscribe, subscription.id, new Uint8Array(1))
    }
    this.#streams.begun()
  }
}

/** The refusal of a client that was closed. */
export function closed() {
  return new MillstreamError(
    'closed',
    'this client is closed; make a new one over the same database',
  )
}

/** Lets the event loop go round once, so that what waits there is not kept waiting by a long catching up. */
function turn() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve(undefined)
    }
    port2.postMessage(null)
  })
}

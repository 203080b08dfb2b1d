// PGlite behind Millstream's `db`: its queries, its transactions, and every commit as it happens.

import { MillstreamError } from '../../error.js'
import { Lock } from '../../lock.js'
import { closed, Loop } from '../../loop.js'
import { install, uninstall } from './capture.js'
import { isInTransaction, PGliteStore } from './store.js'
import { queryArguments, Transaction } from './transaction.js'

/** @import { PGlite, Transaction as Body } from '@electric-sql/pglite' */
/** @import { Commit, SubscribeOptions } from '../../types/index.js' */
/** @import { PGliteClientOptions, QueryOptions, Results, TransactionOptions } from '../../types/pglite.js' */
/** @import { Subscription } from '../../subscription.js' */

/** How long a query waits for an open transaction of the application's own. */
const TRANSACTION_PATIENCE_MS = 5_000

/** A `db` over an open PGlite. */
export class PGliteClient {
  #pglite
  #options
  #report
  #lock = new Lock()
  /** @type {Promise<Loop> | null} */
  #connected = null
  /** @type {Promise<void> | null} */
  #closed = null
  /** @type {Transaction | null} The transaction that holds the lock. */
  #transaction = null
  #begunMs = 0
  /** @type {() => Promise<void>} */
  #unlisten = async () => undefined

  /** The database's commits. */
  wal

  /**
   * @param {PGlite} pglite an open database; it stays the caller's to close
   * @param {PGliteClientOptions} [options]
   */
  constructor(pglite, options = {}) {
    this.#pglite = pglite
    this.#options = checkOptions(options)
    this.#report = guarded(options.onError)
    this.wal = new Wal(
      async () => {
        const loop = await this.connect()
        // A subscription begins with a reading, which an open transaction would keep waiting for ever.
        await this.#hold(async () => undefined)
        return loop
      },
      () => this.#uninstall(),
    )
  }

  /** Connects, which the first use does by itself: the log is set up where it is not there yet. */
  async connect() {
    if (this.#closed) throw closed()
    this.#connected ??= this.#connect()
    const connected = this.#connected
    try {
      return await connected
    } catch (error) {
      // The next use tries again.
      if (this.#connected === connected) this.#connected = null
      throw error
    }
  }

  async #connect() {
    const setUp = `${install}; update millstream.meta set cap = ${this.#options.maxLogEntries};`
    await this.#lock.hold(() => this.#pglite.transaction((tx) => tx.exec(setUp)))
    const loop = new Loop(
      new PGliteStore(this.#pglite, this.#lock),
      this.#options.engine,
      this.#report,
    )
    this.#unlisten = await this.#pglite.listen('millstream', () => loop.wake())
    return loop
  }

  /**
   * Runs a statement, or a script of several as one transaction. Gives the last one's result.
   *
   * @param {string} sql
   * @param {unknown[] | QueryOptions} [values]
   * @returns {Promise<Results>}
   */
  async query(sql, values) {
    const [parameters, options] = queryArguments(values)
    const { tx, actor, op, harness, ...rest } = options
    if (tx) return tx.query(sql, { ...rest, ...(parameters && { values: parameters }) })
    if (actor ?? op ?? harness) {
      return this.transaction((marked) => marked.query(sql, values), {
        actor: actor ?? harness,
        op,
      })
    }
    if (!parameters) return /** @type {Results} */ ((await this.exec(sql, rest)).at(-1))
    const { opens } = (await this.connect()).split(sql, false)
    return this.#hold(() =>
      opens
        ? this.#contain((body) => body.query(sql, parameters, rest))
        : this.#pglite.query(sql, parameters, rest),
    )
  }

  /**
   * Runs a script as one transaction, unless it says otherwise by BEGIN and COMMIT. Gives the result of each
   * statement.
   *
   * @param {string} sql
   * @param {QueryOptions} [options]
   * @returns {Promise<Results[]>}
   */
  async exec(sql, options = {}) {
    const { tx, actor, op, harness, ...rest } = options
    if (tx) return tx.exec(sql, rest)
    if (actor ?? op ?? harness) {
      return this.transaction((marked) => marked.exec(sql, rest), { actor: actor ?? harness, op })
    }
    const loop = await this.connect()
    const { steps, opens } = loop.split(sql, false)
    return this.#hold(async () => {
      if (opens) return this.#contain((body) => body.exec(sql, rest))
      /** @type {Results[]} */
      const results = []
      for (const step of steps) results.push(...(await this.#pglite.exec(step, rest)))
      return results
    })
  }

  /**
   * Begins a transaction, which holds the connection until it is committed or rolled back.
   *
   * @param {TransactionOptions} [options]
   */
  async begin(options = {}) {
    const loop = await this.connect()
    const release = await this.#lock.acquire(this.#patience)
    try {
      const { actor, harness, op } = options
      const marks = { actor: actor ?? harness, op }
      const transaction = await Transaction.begin(this.#pglite, marks, (sql, within) =>
        loop.split(sql, within),
      )
      this.#transaction = transaction
      this.#begunMs = Date.now()
      transaction.over.then(() => {
        this.#transaction = null
        release()
      })
      return transaction
    } catch (error) {
      release()
      throw error
    }
  }

  /**
   * Runs `body` in a transaction: committed when it resolves, rolled back when it throws.
   *
   * @template T
   * @param {(tx: Transaction) => Promise<T>} body
   * @param {TransactionOptions} [options]
   * @returns {Promise<T>}
   */
  async transaction(body, options) {
    const transaction = await this.begin(options)
    /** @type {T} */
    let result
    try {
      result = await body(transaction)
    } catch (error) {
      if (!transaction.ended) await transaction.rollback()
      throw error
    }
    if (!transaction.ended) await transaction.commit()
    return result
  }

  /**
   * Rolls back a transaction that is still open, and ends every subscription after what it still has to be
   * given. The database stays open.
   */
  close() {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close() {
    const loop = await this.#connected
    if (!loop) return
    if (this.#transaction?.ended === false) await this.#transaction.rollback()
    await loop.close()
    if (!this.#pglite.closed) await this.#unlisten()
  }

  async #uninstall() {
    await this.close()
    await this.#lock.hold(() => this.#pglite.exec(uninstall))
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   */
  #hold(work) {
    return this.#lock.hold(work, this.#patience)
  }

  /** Waiting for the lock ends only where one transaction of the application's own holds it for too long. */
  #patience = {
    askEveryMs: 500,
    refusal: () =>
      this.#transaction && Date.now() - this.#begunMs >= TRANSACTION_PATIENCE_MS
        ? new MillstreamError(
            'transaction_open',
            `a transaction has been open for over ${TRANSACTION_PATIENCE_MS / 1_000} s: commit it or roll ` +
              'it back, or pass it along as { tx }',
          )
        : null,
  }

  /**
   * Runs what begins a transaction of its own, and rolls back one that it leaves open. PGlite is held for
   * that by a transaction of ours, which the script's BEGIN finds open and its COMMIT or ROLLBACK ends, so
   * that nobody else's statement gets in between.
   *
   * @template T
   * @param {(body: Body) => Promise<T>} work
   */
  #contain(work) {
    return this.#pglite.transaction(async (body) => {
      const result = await work(body)
      if (!(await isInTransaction(this.#pglite))) return result
      throw new MillstreamError(
        'transaction_left_open',
        'the script began a transaction and did not end it, so it was rolled back: use begin() or transaction()',
      )
    })
  }
}

/** `db.wal`: the commits of a database. */
class Wal {
  #connect
  #uninstall

  /**
   * @param {() => Promise<Loop>} connect
   * @param {() => Promise<void>} uninstall
   */
  constructor(connect, uninstall) {
    this.#connect = connect
    this.#uninstall = uninstall
  }

  /**
   * Subscribes to the commits that touch the relations selected. Without a callback, the subscription is
   * iterated: `for await (const commit of sub)`.
   *
   * @param {unknown} [selector]
   * @param {unknown} [callback]
   * @param {SubscribeOptions} [options]
   * @returns {Promise<Subscription>}
   */
  async subscribe(selector, callback, options) {
    const [asked, called, chosen] = subscribeArguments(selector, callback, options)
    const { since, onError, signal } = checkSubscribeOptions(chosen)
    signal?.throwIfAborted()
    const loop = await this.#connect()
    const subscription = await loop.subscribe(asked, since, called, onError)
    if (signal?.aborted) {
      await subscription.abort()
      throw signal.reason
    }
    if (signal) {
      const abort = () => subscription.abort()
      signal.addEventListener('abort', abort, { once: true })
      // A signal may outlive many subscriptions.
      subscription.ended.then(() => signal.removeEventListener('abort', abort))
    }
    return subscription
  }

  /** Takes everything that Millstream put into the database out of it, and closes the client. */
  uninstall() {
    return this.#uninstall()
  }
}

/**
 * Sorts out which of the three arguments were left out.
 *
 * @param {unknown} selector
 * @param {unknown} callback
 * @param {SubscribeOptions | undefined} options
 * @returns {[unknown, ((commit: Commit) => unknown) | undefined, SubscribeOptions]}
 */
function subscribeArguments(selector, callback, options) {
  if (typeof selector === 'function') {
    return subscribeArguments('*', selector, /** @type {SubscribeOptions | undefined} */ (callback))
  }
  if (callback !== undefined && typeof callback !== 'function') {
    throw new TypeError(
      `the callback is ${callback === null ? 'null' : `a ${typeof callback}`}: pass a function, or leave it ` +
        'out to iterate with for await',
    )
  }
  const called = /** @type {((commit: Commit) => unknown) | undefined} */ (callback)
  return [selector === undefined ? '*' : selector, called, options ?? {}]
}

/** @param {SubscribeOptions} options */
function checkSubscribeOptions({ since = 'now', onError, signal, ...unknown }) {
  refuseUnknown(unknown, 'subscribe')
  return { since, onError, signal }
}

/** @param {PGliteClientOptions} options */
function checkOptions({ onError: _, retention = {}, maxLogEntries = 1_000_000, ...unknown }) {
  refuseUnknown(unknown, 'PGliteClient')
  const { entries, ageMs, ...others } = retention
  refuseUnknown(others, 'retention')
  for (const [name, value] of Object.entries({ entries, ageMs, maxLogEntries })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new MillstreamError(
        'bad_options',
        `${name} is ${value}; it must be a whole number above 0`,
      )
    }
  }
  return {
    maxLogEntries,
    engine: {
      ...(entries !== undefined && { retainEntries: entries }),
      ...(ageMs !== undefined && { retainMs: ageMs }),
    },
  }
}

/**
 * A listener that cannot throw: there is nobody left to tell but the console.
 *
 * @param {((error: unknown) => void) | undefined} listener
 * @returns {(error: unknown) => void}
 */
function guarded(listener = (error) => console.error(error)) {
  return (error) => {
    try {
      listener(error)
    } catch (another) {
      console.error(another)
    }
  }
}

/**
 * @param {object} unknown
 * @param {string} where
 */
function refuseUnknown(unknown, where) {
  const [name] = Object.keys(unknown)
  if (name !== undefined) {
    throw new MillstreamError('bad_options', `${where} has no option '${name}'`)
  }
}

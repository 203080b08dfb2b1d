// A transaction of the application's, from BEGIN to COMMIT or ROLLBACK.

import { MillstreamError } from '../../error.js'

/** @import { PGlite, Transaction as Body } from '@electric-sql/pglite' */
/** @import { QueryOptions, Results } from '../../types/pglite.js' */

/** Why a body ends that is to be rolled back, as PGlite rolls back what throws. */
const ROLLBACK = Symbol('rollback')

/** An open transaction. It holds the connection until `commit()` or `rollback()`. */
export class Transaction {
  #body
  #finish
  #done
  #split
  #open = true

  /**
   * @param {number} id
   * @param {Body} body
   * @param {(commit: boolean) => void} finish
   * @param {Promise<void>} done
   * @param {(sql: string, within: boolean) => unknown} split
   */
  constructor(id, body, finish, done, split) {
    /** The database's own id of it: the `txId` that its commit will have. */
    this.id = id
    this.#body = body
    this.#finish = finish
    this.#done = done
    this.#split = split
  }

  /**
   * @param {PGlite} pglite
   * @param {{ actor?: string | undefined, op?: string | undefined }} marks
   * @param {(sql: string, within: boolean) => unknown} split
   */
  static async begin(pglite, { actor, op }, split) {
    /** @type {(transaction: Transaction) => void} */
    let begun = () => undefined
    const transaction = new Promise((resolve) => {
      begun = resolve
    })
    const done = pglite.transaction(async (body) => {
      const { rows } = await body.query(
        `select pg_current_xact_id()::text::int8 as id,
          set_config('millstream.actor', $1, true), set_config('millstream.op', $2, true)`,
        [actor ?? '', op ?? ''],
      )
      const { id } = /** @type {{ id: number }} */ (rows[0])
      await new Promise((resolve, reject) => {
        const finish = (/** @type {boolean} */ commit) =>
          commit ? resolve(null) : reject(ROLLBACK)
        begun(new Transaction(id, body, finish, done, split))
      })
    })
    done.catch(() => undefined)
    return /** @type {Promise<Transaction>} */ (Promise.race([transaction, done]))
  }

  /** Whether it was committed or rolled back. */
  get ended() {
    return !this.#open
  }

  /** Settles when it is over, however it ended. */
  get over() {
    return this.#done.then(noop, noop)
  }

  /**
   * @param {string} sql
   * @param {unknown[] | QueryOptions} [values]
   * @returns {Promise<Results>}
   */
  async query(sql, values) {
    const [parameters, options] = queryArguments(values)
    if (!parameters) return /** @type {Results} */ ((await this.exec(sql, options)).at(-1))
    this.#allow(sql)
    return /** @type {any} */ (this.#body.query(sql, parameters, options))
  }

  /**
   * @param {string} sql
   * @param {QueryOptions} [options]
   * @returns {Promise<Results[]>}
   */
  async exec(sql, options) {
    this.#allow(sql)
    return /** @type {any} */ (this.#body.exec(sql, options))
  }

  async commit() {
    this.#end(true)
    await this.#done
  }

  async rollback() {
    this.#end(false)
    try {
      await this.#done
    } catch (reason) {
      if (reason !== ROLLBACK) throw reason
    }
  }

  /** @param {boolean} commit */
  #end(commit) {
    this.#refuseClosed()
    this.#open = false
    this.#finish(commit)
  }

  /** @param {string} sql */
  #allow(sql) {
    this.#refuseClosed()
    this.#split(sql, true)
  }

  #refuseClosed() {
    if (!this.#open) {
      const message = 'this transaction has ended; begin another one'
      throw new MillstreamError('transaction_closed', message)
    }
  }
}

/**
 * The two forms of `query`'s second argument: an array of values, or options with `values` among them.
 *
 * @param {unknown[] | QueryOptions | undefined} values
 * @returns {[unknown[] | undefined, QueryOptions]}
 */
export function queryArguments(values) {
  if (Array.isArray(values)) return [values, {}]
  const { values: listed, ...options } = values ?? {}
  return [listed, options]
}

function noop() {
  return undefined
}

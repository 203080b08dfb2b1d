// The log in PGlite, read as the bytes PostgreSQL answers with.

import { MillstreamError } from '../../error.js'
import { readLog, trim } from './capture.js'

/** @import { PGlite } from '@electric-sql/pglite' */
/** @import { ReadBounds, Store, TrimOrder } from '../../loop.js' */

/** After how many trimmed entries the space is made free again: PGlite has nobody else who does it. */
const VACUUM_EVERY = 10_000

/** @implements {Store} */
export class PGliteStore {
  #pglite
  #lock
  #trimmed = 0

  /**
   * @param {PGlite} pglite
   * @param {import('../../lock.js').Lock} lock
   */
  constructor(pglite, lock) {
    this.#pglite = pglite
    this.#lock = lock
  }

  /** @param {ReadBounds} bounds */
  read(bounds) {
    const query = simpleQuery(readLog(bounds))
    return this.#alone(() => this.#pglite.execProtocolRaw(query, { syncToFs: false }))
  }

  /** @param {TrimOrder} order */
  trim(order) {
    return this.#alone(async () => {
      // Not within somebody's transaction, which would take it back, and which a VACUUM would fail.
      if (await isInTransaction(this.#pglite)) return
      const [row] = await this.#rows(trim(order))
      this.#trimmed += Number(row?.[0])
      if (this.#trimmed < VACUUM_EVERY) return
      this.#trimmed = 0
      await this.#pglite.execProtocol(simpleQuery('vacuum millstream.log'))
    })
  }

  namespace = 'public'

  /** @returns {Promise<[string, string][]>} */
  guarded() {
    const tables = `
      select n.nspname, c.relname
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
       where c.relrowsecurity`
    return this.#alone(async () => /** @type {[string, string][]} */ (await this.#rows(tables)))
  }

  /** @param {{ namespace: string, name: string }} relation */
  probe({ namespace, name }) {
    const table = `${identifier(namespace)}.${identifier(name)}`
    return this.#alone(async () => {
      if (await isInTransaction(this.#pglite)) throw new Error('a transaction is open')
      const [row] = await this.#rows(`
        select c.relrowsecurity from pg_catalog.pg_class c
         where c.oid operator(pg_catalog.=) ${literal(table)}::pg_catalog.regclass`)
      await this.#rows(`select from ${table} limit 1`)
      return row?.[0] === 't'
    })
  }

  /** @param {string} sql */
  async #rows(sql) {
    const { messages } = await this.#pglite.execProtocol(simpleQuery(sql))
    const rows = messages.filter(({ name }) => name === 'dataRow')
    return rows.map((row) => /** @type {string[]} */ (/** @type {any} */ (row).fields))
  }

  /**
   * Holds the connection: behind PGlite's own locks too, so that nobody's statement past our client gets in
   * between.
   *
   * @template T
   * @param {() => Promise<T>} work
   */
  #alone(work) {
    return this.#lock.hold(() => {
      this.#refuseClosed()
      return this.#pglite._runExclusiveTransaction(() => this.#pglite._runExclusiveQuery(work))
    })
  }

  #refuseClosed() {
    if (this.#pglite.closed) {
      throw new MillstreamError(
        'database_closed',
        'the database was closed; open it and a new client',
      )
    }
  }
}

/** The protocol's Sync message, whose answer ends in the state of the transaction, and the state of none. */
const SYNC = new Uint8Array([0x53, 0, 0, 0, 4])
const IDLE = 'I'.charCodeAt(0)

/**
 * Whether a transaction is open. Asked by whoever holds the connection.
 *
 * @param {PGlite} pglite
 */
export async function isInTransaction(pglite) {
  const answer = await pglite.execProtocolRaw(SYNC, { syncToFs: false })
  return answer.at(-1) !== IDLE
}

/** @param {string} name */
const identifier = (name) => `"${name.replaceAll('"', '""')}"`

/** @param {string} text */
const literal = (text) => ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const encoder = new TextEncoder()

/**
 * A simple query as a protocol message: `Q`, the length, the text, a zero.
 *
 * @param {string} sql
 */
function simpleQuery(sql) {
  const text = encoder.encode(sql)
  const message = new Uint8Array(text.length + 6)
  message[0] = 0x51
  new DataView(message.buffer).setUint32(1, text.length + 5)
  message.set(text, 5)
  return message
}

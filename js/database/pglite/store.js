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
    return this.#lock.hold(() => {
      this.#refuseClosed()
      // Behind PGlite's own locks too, so that no transaction past our client is read from within.
      return this.#pglite._runExclusiveTransaction(() =>
        this.#pglite._runExclusiveQuery(() =>
          this.#pglite.execProtocolRaw(query, { syncToFs: false }),
        ),
      )
    })
  }

  /** @param {TrimOrder} order */
  trim(order) {
    return this.#lock.hold(async () => {
      this.#refuseClosed()
      const [result] = await this.#pglite.exec(trim(order))
      const [row] = /** @type {{ trimmed: number }[]} */ (result?.rows ?? [])
      this.#trimmed += row?.trimmed ?? 0
      if (this.#trimmed < VACUUM_EVERY) return
      this.#trimmed = 0
      await this.#pglite.exec('vacuum millstream.log')
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

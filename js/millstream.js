// The doors that HTTP opens: a schema is declared once, then requests are served.

import { MillstreamError } from './error.js'
import { WebSink } from './sink/web.js'

/** @import { Loop } from './loop.js' */
/** @import { Connection, RequestFacts, Sink } from './streams.js' */
/** @import { MillstreamOptions, StreamStatistics } from './types/index.js' */

/** Entity streams over one database, for one tenant. */
export class Millstream {
  #loop
  #isClosed = false
  #authenticate
  #report

  /**
   * @private use `Millstream.open`
   * @param {Loop} loop
   * @param {MillstreamOptions['authenticate']} authenticate
   * @param {(error: unknown) => void} report
   */
  constructor(loop, authenticate, report) {
    this.#loop = loop
    this.#authenticate = authenticate
    this.#report = report
  }

  /**
   * Opens the doors. Everything that is wrong with the schema is refused together.
   *
   * @param {MillstreamOptions} options
   */
  static async open({ db, schema, tenant = 'default', authenticate, onError, ...unknown }) {
    const [name] = Object.keys(unknown)
    if (name !== undefined) {
      throw new MillstreamError('bad_options', `Millstream.open has no option '${name}'`)
    }
    const loop = /** @type {Loop} */ (await db.connect())
    const refusals = await loop.openStreams(parse(schema), tenant)
    if (refusals.length > 0) {
      const lines = refusals.map(({ path, message, code }) => `\n  ${path}: ${message} (${code})`)
      throw new MillstreamError('bad_schema', `the schema is refused:${lines.join('')}`, {
        refusals,
      })
    }
    return new Millstream(loop, authenticate, onError ?? ((error) => console.error(error)))
  }

  /**
   * Serves a request: `GET /subscribe/{entity}`. It may be passed along without its object.
   *
   * @param {Request} request
   * @returns {Promise<Response>}
   */
  fetch = async (request) => {
    const sink = new WebSink()
    const facts = factsOf(request)
    const claims = await this.claims(request)
    request.signal.throwIfAborted()
    const connection = this.serve({ ...facts, claims }, sink)
    sink.connection = connection
    const leave = () => {
      connection.gone()
      sink.fail(request.signal.reason)
    }
    request.signal.addEventListener('abort', leave, { once: true })
    return sink.response
  }

  /**
   * Serves a request whose answer goes to a sink of the caller's.
   *
   * @internal
   * @param {RequestFacts} facts
   * @param {Sink} sink
   * @returns {Connection}
   */
  serve(facts, sink) {
    // The client may be open for another by now.
    return this.#loop.request({ ...facts, closed: this.#isClosed }, sink)
  }

  /**
   * Who is asking; null where nobody knows.
   *
   * @internal
   * @param {Request} request
   * @returns {Promise<Record<string, unknown> | null>}
   */
  async claims(request) {
    if (!this.#authenticate) return null
    try {
      return (await this.#authenticate(request)) ?? null
    } catch (error) {
      this.#report(error)
      return null
    }
  }

  /** Whether somebody is to be asked who a caller is. */
  get authenticates() {
    return this.#authenticate !== undefined
  }

  /**
   * What was counted: for each subscription of the schema, and in all.
   *
   * @returns {StreamStatistics}
   */
  stats() {
    return this.#loop.streamStatistics()
  }

  /** Ends every stream with its closing frame, and refuses those to come. The database stays open. */
  async close() {
    // Others may be open over the same client by now.
    if (!this.#isClosed) this.#loop.closeStreams()
    this.#isClosed = true
  }
}

/**
 * @param {Request} request
 * @returns {RequestFacts}
 */
function factsOf({ method, url, headers }) {
  const { pathname, searchParams } = new URL(url)
  return {
    method,
    path: pathname,
    query: [...searchParams],
    lastEventId: headers.get('last-event-id') ?? undefined,
  }
}

/** @param {unknown} schema */
function parse(schema) {
  if (typeof schema !== 'string') return schema
  try {
    return JSON.parse(schema)
  } catch (error) {
    throw new MillstreamError('bad_schema', `the schema is not JSON: ${error}`, { cause: error })
  }
}

// A response of Node's own server, HTTP/1 or HTTP/2: frames go to it without a stream in between.

/** @import { Connection, Sink } from '../streams.js' */
/** @import { ServerResponse } from 'node:http' */

/** How long a client may take over the last bytes. */
const GRACE_MS = 5_000

/** @implements {Sink} */
export class NodeSink {
  #response
  /** @type {Connection | null} */
  #connection = null

  /** @param {ServerResponse} response */
  constructor(response) {
    this.#response = response
  }

  /** @param {Connection} connection */
  attach(connection) {
    this.#connection = connection
    this.#response.on('drain', () => connection.drained())
    this.#response.on('close', () => connection.gone())
    // It closes after that.
    this.#response.on('error', () => connection.gone())
    if (this.#response.destroyed) connection.gone()
  }

  /**
   * @param {number} status
   * @param {[string, string][]} headers
   * @param {string | null} body
   */
  respond(status, headers, body) {
    this.open(status, headers)
    this.#response.end(body ?? undefined)
  }

  /**
   * @param {number} status
   * @param {[string, string][]} headers
   */
  open(status, headers) {
    for (const [name, value] of headers) this.#response.setHeader(name, value)
    this.#response.writeHead(status)
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    return this.#response.write(bytes)
  }

  end() {
    const response = this.#response
    response.end()
    if (this.#connection?.isFull) {
      // Who has not read for long will not read the end either.
      const timer = setTimeout(() => response.destroy(), GRACE_MS)
      response.once('close', () => clearTimeout(timer))
    }
  }

  fail() {
    this.#response.destroy()
  }
}

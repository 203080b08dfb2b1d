// A response of Node's own server, HTTP/1 or HTTP/2: frames go to it without a stream in between.

/** @import { Connection, Sink } from '../streams.js' */
/** @import { IncomingMessage, ServerResponse } from 'node:http' */

/** How long a client may take over the last bytes. */
export const GRACE_MS = 5_000

/** @implements {Sink} */
export class NodeSink {
  #response
  #isLeft = false
  /** @type {Connection | null} */
  #connection = null

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  constructor({ socket }, response) {
    this.#response = response
    const leave = () => {
      this.#isLeft = true
      this.#connection?.gone()
    }
    response.on('drain', () => this.#connection?.drained())
    response.on('close', leave)
    // It closes after that.
    response.on('error', leave)
    const { stream } = /** @type {{ stream?: import('node:http2').ServerHttp2Stream }} */ (response)
    if (stream) {
      // A stream that is reset without an error closes in silence.
      stream.on('aborted', () => {
        leave()
        stream.destroy()
      })
    } else {
      // Responses that wait behind another one on the same connection hear nothing of its end.
      socket.setMaxListeners(0)
      socket.on('close', leave)
      response.on('close', () => socket.off('close', leave))
    }
  }

  /** @param {Connection} connection */
  attach(connection) {
    this.#connection = connection
    if (this.#isLeft) connection.gone()
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
    const timer = setTimeout(() => response.destroy(), GRACE_MS)
    response.once('close', () => clearTimeout(timer))
  }

  fail() {
    this.#response.destroy()
  }
}

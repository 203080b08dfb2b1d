// A response of the web platform: what Deno, Bun, Workers and frameworks hand to their servers.

/** @import { Connection, Sink } from '../streams.js' */

/** How many bytes wait for a client before its sink counts as full. */
const HIGH_WATER_MARK = 16 * 1024

/**
 * A sink, and the response that it fills.
 *
 * @implements {Sink}
 */
export class WebSink {
  /** @type {(response: Response) => void} */
  #resolve = () => undefined
  /** @type {(error: Error) => void} */
  #reject = () => undefined
  /** @type {ReadableStreamDefaultController<Uint8Array> | null} */
  #controller = null

  /** @type {Promise<Response>} */
  response = new Promise((resolve, reject) => {
    this.#resolve = resolve
    this.#reject = reject
  })
  /** @type {Connection | null} */
  connection = null

  /**
   * @param {number} status
   * @param {[string, string][]} headers
   * @param {string | null} body
   */
  respond(status, headers, body) {
    this.#resolve(new Response(body, { status, headers }))
  }

  /**
   * @param {number} status
   * @param {[string, string][]} headers
   */
  open(status, headers) {
    const body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.connection?.drained(),
        cancel: () => {
          this.#controller = null
          this.connection?.gone()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_MARK }),
    )
    this.#resolve(new Response(body, { status, headers }))
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    if (!this.#controller) return false
    // Whoever reads it may transfer it, and the bytes are others' too.
    this.#controller.enqueue(bytes.slice())
    return (this.#controller.desiredSize ?? 0) > 0
  }

  end() {
    this.#controller?.close()
    this.#controller = null
  }

  /** @param {Error} error */
  fail(error) {
    this.#reject(error)
    this.#controller?.error(error)
    this.#controller = null
  }
}

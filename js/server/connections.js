// Who is connected, so that a server that closes lets go of each once its last bytes are out.

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

export class Connections {
  /** @type {Map<ServerResponse, IncomingMessage['socket']>} */
  #answering = new Map()
  #isClosing = false

  /**
   * Sees each request first. Those that come too late find no server, so that an EventSource among them tries
   * again, which it would not do after a refusal.
   *
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  before = ({ socket }, response) => {
    if (this.#isClosing) {
      socket.destroy()
      return true
    }
    this.#answering.set(response, socket)
    response.once('close', () => this.#answering.delete(response))
    return false
  }

  /**
   * Waits until every answer is out, but not for ever.
   *
   * @param {number} graceMs
   */
  async over(graceMs) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    const responses = [...this.#answering.keys()]
    const closed = responses.map(
      (response) => new Promise((resolve) => response.once('close', () => resolve(undefined))),
    )
    await Promise.race([Promise.all(closed), late])
    clearTimeout(timer)
  }

  close() {
    this.#isClosing = true
    for (const [response, socket] of this.#answering) {
      response.once('finish', () => socket.end())
    }
  }
}

// The one lock of a connection: whoever holds it may use the connection, the others wait in order.

/** A first-come, first-served lock whose waiting can be given up. */
export class Lock {
  /** @type {(() => void)[]} */
  #waiting = []
  #held = false

  /**
   * Waits for the lock; gives the function that releases it. Meanwhile `refusal` is asked for an error every
   * so often, and where it has one, the waiting is over.
   *
   * @param {{ askEveryMs: number, refusal: () => Error | null }} [patience]
   * @returns {Promise<() => void>}
   */
  acquire(patience) {
    return new Promise((resolve, reject) => {
      /** @type {ReturnType<typeof setInterval> | undefined} */
      let timer
      const enter = () => {
        clearInterval(timer)
        this.#held = true
        let released = false
        resolve(() => {
          if (released) return
          released = true
          this.#held = false
          this.#waiting.shift()?.()
        })
      }
      if (!this.#held) return enter()
      this.#waiting.push(enter)
      if (!patience) return
      timer = setInterval(() => {
        const refusal = patience.refusal()
        if (!refusal) return
        clearInterval(timer)
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(refusal)
      }, patience.askEveryMs)
    })
  }

  /**
   * Holds the lock while `work` runs.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @param {{ askEveryMs: number, refusal: () => Error | null }} [patience]
   */
  async hold(work, patience) {
    const release = await this.acquire(patience)
    try {
      return await work()
    } finally {
      release()
    }
  }
}

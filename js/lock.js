// The one lock of a connection: whoever holds it may use the connection, the others wait in order.

/** A first-come, first-served lock whose waiting can be given up. */
export class Lock {
  /** @type {(() => void)[]} */
  #waiting = []
  #held = false

  /**
   * Waits for the lock; gives the function that releases it. Whenever patience ends first, `refuse` is asked
   * for an error, and where it has one, the waiting is over.
   *
   * @param {{ patienceMs: number, refuse: () => Error | null }} [limit]
   * @returns {Promise<() => void>}
   */
  acquire(limit) {
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
      if (!limit) return
      timer = setInterval(() => {
        const refusal = limit.refuse()
        if (!refusal) return
        clearInterval(timer)
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(refusal)
      }, limit.patienceMs)
    })
  }

  /**
   * Holds the lock while `work` runs.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @param {{ patienceMs: number, refuse: () => Error | null }} [limit]
   */
  async hold(work, limit) {
    const release = await this.acquire(limit)
    try {
      return await work()
    } finally {
      release()
    }
  }
}

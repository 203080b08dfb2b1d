// A subscription as its user holds it: commits wait here for their callback, one at a time and in order.

/** @import { Commit } from './types/index.js' */
/** @import { LazyCommit } from './commit.js' */

/**
 * What a subscription needs of the loop it belongs to.
 *
 * @typedef {object} Host
 * @property {(subscription: Subscription) => void} took its callback is done with a commit
 * @property {(subscription: Subscription, fromCallback: boolean) => void} leave it is to end
 * @property {(error: unknown) => void} report an error that nobody listens to
 */

/** A standing request for commits. */
export class Subscription {
  #host
  #callback
  /** @type {LazyCommit[]} */
  #waiting = []
  #running = false
  #inCallback = false
  /** @type {Set<(error: unknown) => void>} */
  #listeners = new Set()
  /** @type {Iteration | null} */
  #iteration = null
  #ended = deferred()

  /** Settles when it has begun, or was refused. */
  started = deferred()
  /** Whether it has ended: no callback starts from then on. */
  aborted = false
  /** Whether it was asked to end. */
  leaving = false
  /** @type {number | null} The last commit that reached it, once it has begun. */
  reached = null
  /** The last commit its callback was called with, or what it began after. */
  #called = 0
  /** The last commit that its callback is done with. */
  taken = 0

  /**
   * @param {number} id
   * @param {{ selector: unknown, since: unknown }} declaration
   * @param {((commit: Commit) => unknown) | undefined} callback
   * @param {Host} host
   */
  constructor(id, declaration, callback, host) {
    this.id = id
    this.declaration = declaration
    this.#host = host
    if (callback) {
      this.#callback = callback
    } else {
      const iteration = new Iteration()
      this.#iteration = iteration
      this.#callback = (/** @type {Commit} */ commit) => iteration.offer(commit)
    }
  }

  /** Settles when it has ended. */
  get ended() {
    return this.#ended.promise
  }

  /** @param {number} seq after which entry it begins */
  begin(seq) {
    this.reached ??= seq
    this.#called ||= seq
    this.started.resolve()
  }

  /** Gives back what its callback was not called with yet: the log has it still. */
  rewind() {
    if (this.#waiting.length > 0) this.reached = this.#called
    this.#waiting.length = 0
  }

  /** @param {LazyCommit} commit */
  push(commit) {
    this.reached = commit.seq
    this.#waiting.push(commit)
    if (this.#running) return
    this.#running = true
    queueMicrotask(() => this.#run())
  }

  #run() {
    for (let next = this.#waiting.shift(); next && !this.aborted; next = this.#waiting.shift()) {
      const { seq } = next
      this.#called = seq
      const result = this.#call(next)
      if (isThenable(result)) {
        const done = () => {
          this.#take(seq)
          this.#run()
        }
        result.then(done, (/** @type {unknown} */ error) => {
          this.fail(error)
          done()
        })
        return
      }
      this.#take(seq)
    }
    this.#running = false
  }

  /** @param {LazyCommit} commit */
  #call(commit) {
    this.#inCallback = true
    try {
      return this.#callback(commit.value)
    } catch (error) {
      this.fail(error)
      return undefined
    } finally {
      this.#inCallback = false
    }
  }

  /** @param {number} seq */
  #take(seq) {
    this.taken = seq
    this.#host.took(this)
  }

  /**
   * Tells its listeners of an error that concerns it alone.
   *
   * @param {unknown} error
   */
  fail(error) {
    if (this.#iteration?.fail(error)) return
    if (this.#listeners.size === 0) this.#host.report(error)
    for (const listener of this.#listeners) {
      try {
        listener(error)
      } catch (another) {
        this.#host.report(another)
      }
    }
  }

  /**
   * Ends it: by its own wish, or with the error that refused it.
   *
   * @param {unknown} [error]
   */
  end(error) {
    this.aborted = true
    this.#waiting.length = 0
    if (error === undefined) {
      this.started.resolve()
    } else {
      this.started.reject(error)
      // Without effect where it was refused before it began.
      if (this.reached !== null) this.fail(error)
    }
    this.#iteration?.end()
    this.#ended.resolve()
  }

  /**
   * @param {'error'} event
   * @param {(error: unknown) => void} listener
   */
  on(event, listener) {
    if (event !== 'error')
      throw new TypeError(`a subscription has no event '${event}', only 'error'`)
    this.#listeners.add(listener)
    return this
  }

  async abort() {
    if (!this.leaving) {
      this.leaving = true
      this.#host.leave(this, this.#inCallback)
    }
    await this.#ended.promise
  }

  async *[Symbol.asyncIterator]() {
    const iteration = this.#iteration
    if (!iteration)
      throw new TypeError('this subscription has a callback, so it cannot be iterated')
    try {
      yield* iteration.commits()
    } finally {
      iteration.end()
      await this.abort()
    }
  }
}

/** Commits handed from a callback to a `for await`, each taken when the next one is asked for. */
class Iteration {
  /** @type {{ commit: Commit, taken: () => void } | null} */
  #offered = null
  /** @type {unknown[]} */
  #errors = []
  #ended = false
  #changed = deferred()

  /** @param {Commit} commit */
  offer(commit) {
    // Whoever has stopped iterating takes nothing more, and keeps nobody waiting.
    if (this.#ended) return undefined
    const taken = deferred()
    this.#offered = { commit, taken: taken.resolve }
    this.#changed.resolve()
    return taken.promise
  }

  /**
   * Takes an error on, which ends the iteration; false where it had ended before.
   *
   * @param {unknown} error
   */
  fail(error) {
    if (this.#ended) return false
    // The first error ends the iteration, so that no other is ever asked for.
    if (this.#errors.length === 0) this.#errors.push(error)
    this.#changed.resolve()
    return true
  }

  end() {
    this.#ended = true
    this.#offered?.taken()
    this.#changed.resolve()
  }

  async *commits() {
    for (;;) {
      if (this.#offered) {
        const { commit, taken } = this.#offered
        this.#offered = null
        try {
          yield commit
        } finally {
          taken()
        }
      } else if (this.#errors.length > 0) {
        throw this.#errors.shift()
      } else if (this.#ended) {
        return
      } else {
        this.#changed = deferred()
        await this.#changed.promise
      }
    }
  }
}

/** A promise with its two ends. A rejection that nobody awaits is no crash. */
function deferred() {
  /** @type {() => void} */
  let resolve = () => undefined
  /** @type {(error: unknown) => void} */
  let reject = () => undefined
  /** @type {Promise<void>} */
  const promise = new Promise((yes, no) => {
    resolve = () => yes()
    reject = no
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}

/**
 * @param {any} value
 * @returns {value is PromiseLike<unknown>}
 */
function isThenable(value) {
  return typeof value?.then === 'function'
}

// What the page asks the server for, as its owner.

const KEPT = 'millstream.token'

/** The token is missing, or is not the owner's. */
export class NotOwner extends Error {}

/** What the server refused, in its own words. */
export class Refused extends Error {}

export class Server {
  /** @type {string | null} */
  #token

  constructor() {
    const fragment = new URLSearchParams(location.hash.slice(1))
    const given = fragment.get('token')
    if (given) {
      this.#keep(given)
      // Whoever sees or shares the address does not get the token with it.
      history.replaceState(null, '', location.pathname + location.search)
    }
    this.#token = given ?? sessionStorage.getItem(KEPT)
  }

  get hasToken() {
    return this.#token !== null
  }

  /** @param {string | null} token */
  use(token) {
    this.#token = token
    this.#keep(token)
  }

  /**
   * @param {string} path
   * @param {AbortSignal} [signal]
   */
  get(path, signal) {
    return this.#ask(path, { signal })
  }

  /**
   * Runs a statement, and throws what the database says against it.
   *
   * @param {string} sql
   * @param {unknown[]} [values]
   * @returns {Promise<{ columns: string[], rows: Record<string, unknown>[], more: number, affectedRows: number }>}
   */
  async sql(sql, values) {
    const answer = await this.#ask('/page/sql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sql, values }),
    })
    if (!answer.error) return answer
    const { message, hint } = answer.error
    throw new Refused(hint ? `${message}. ${hint}` : message)
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   */
  async #ask(path, init) {
    const response = await fetch(path, {
      ...init,
      headers: { ...init.headers, Authorization: `Bearer ${this.#token}` },
      cache: 'no-store',
    })
    if (response.status === 401) throw new NotOwner('The server does not know this token.')
    const answer = await response.json()
    if (response.ok) return answer
    throw new Refused(answer.error.message)
  }

  /** @param {string | null} token */
  #keep(token) {
    if (token === null) sessionStorage.removeItem(KEPT)
    else sessionStorage.setItem(KEPT, token)
  }
}

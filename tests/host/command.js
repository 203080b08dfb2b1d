// The command line as a process: run to its end, or at work until it is stopped.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../js/cli/millstream.js', import.meta.url))

/** One process of `millstream`. */
export class Command {
  output = ''
  errors = ''
  /** @type {Set<() => void>} */
  #waiting = new Set()

  /**
   * @param {string[]} words
   * @param {Record<string, string>} [env]
   */
  constructor(words, env = {}) {
    this.child = spawn(process.execPath, [bin, ...words], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout.setEncoding('utf8').on('data', (text) => {
      this.output += text
      this.#changed()
    })
    this.child.stderr.setEncoding('utf8').on('data', (text) => {
      this.errors += text
      this.#changed()
    })
    /** @type {Promise<number | null>} its exit code, once all it said is here */
    this.exited = new Promise((resolve) => this.child.on('close', (code) => resolve(code)))
    this.exited.then(() => this.#changed())
  }

  /** The page's address with the token, which `serve` prints once it is ready. */
  get link() {
    const [link] = /http:\S+#token=\S+/.exec(this.output) ?? []
    if (link === undefined) throw new Error(`no link is printed:\n${this.output}${this.errors}`)
    return new URL(link)
  }

  get token() {
    return this.link.hash.replace('#token=', '')
  }

  /** Waits until it serves. */
  async ready() {
    await this.until(({ output }) => output.includes('Ctrl-C ends it.'))
    return this
  }

  /**
   * Waits until something holds of what it said.
   *
   * @param {(command: Command) => unknown} holds
   */
  async until(holds) {
    while (!holds(this)) {
      if (this.#isOver) throw new Error(`the process is over:\n${this.output}${this.errors}`)
      await new Promise((resolve) => this.#waiting.add(() => resolve(null)))
    }
  }

  /**
   * Asks a route of the page, as the owner unless said otherwise.
   *
   * @param {string} path
   * @param {RequestInit & { headers?: Record<string, string> }} [init]
   */
  ask(path, { headers, ...init } = {}) {
    const authorization = { Authorization: `Bearer ${this.token}` }
    return fetch(new URL(path, this.link), { ...init, headers: headers ?? authorization })
  }

  /**
   * Runs a statement by way of the page.
   *
   * @param {string} sql
   * @param {unknown[]} [values]
   */
  async sql(sql, values) {
    const response = await this.ask('/page/sql', {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ sql, values }),
    })
    return response.json()
  }

  /** Ends it, and gives its exit code. */
  stop(/** @type {NodeJS.Signals} */ signal = 'SIGINT') {
    this.child.kill(signal)
    return this.exited
  }

  /** Ends it whatever it is about. */
  kill() {
    return this.#isOver ? this.exited : this.stop('SIGKILL')
  }

  get #isOver() {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  #changed() {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}

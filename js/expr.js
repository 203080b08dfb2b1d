// Expressions for users: the conditions of the server, compiled by the same engine.

import { Expression } from '#runtime'
import { generation } from './boundary.js'
import { MillstreamError } from './error.js'

export { MillstreamError }

/** @import { Columns, Entry, Filter, Value } from './types/expr.js' */

/**
 * Compiles an expression for rows of these columns.
 *
 * @param {string} source
 * @param {Columns} columns
 * @returns {Filter}
 */
export function compile(source, columns) {
  return new CompiledFilter(source, columns)
}

/** @implements {Filter} */
class CompiledFilter {
  /** @type {Expression} */
  #expression
  #generation = generation
  #source
  /** @type {[string[], string[]]} */
  #columns

  /**
   * @param {string} source
   * @param {Columns} columns
   */
  constructor(source, columns) {
    const types = Object.values(columns)
    if (typeof source !== 'string' || types.some((type) => typeof type !== 'string')) {
      throw new MillstreamError('bad_options', 'expected a source, and a type for each column')
    }
    this.#source = source
    this.#columns = [Object.keys(columns), types]
    this.#expression = this.#make()
  }

  /** @returns {string} */
  get canonical() {
    return this.#current().canonical()
  }

  /**
   * @param {object} row
   * @param {Entry} [entry]
   * @returns {Value}
   */
  evaluate(row, entry = {}) {
    return refusing(this.#source, () => {
      return this.#current().evaluate(written(row, entry), entry.now ?? Date.now())
    })
  }

  /**
   * @param {object} row
   * @param {Entry} [entry]
   */
  matches(row, entry = {}) {
    return refusing(this.#source, () => {
      return this.#current().holds(written(row, entry), entry.now ?? Date.now())
    })
  }

  #make() {
    return refusing(this.#source, () => new Expression(this.#source, ...this.#columns))
  }

  /** The expression, made again where the module it was made in has stopped. */
  #current() {
    if (this.#generation !== generation) {
      this.#expression = this.#make()
      this.#generation = generation
    }
    return this.#expression
  }
}

/**
 * The row and what happened to it, as the engine reads them.
 *
 * @param {object} row
 * @param {Entry} entry
 */
function written(row, { op = 'insert', operation, old, claims }) {
  const images = op === 'delete' ? { old: row } : { new: row, old }
  return JSON.stringify({ ...images, op, operation, claims }, exact)
}

/**
 * What JSON cannot hold, as the database writes it.
 *
 * @param {string} _key
 * @param {unknown} value
 */
function exact(_key, value) {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Uint8Array) {
    return `\\x${Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
  }
  return value
}

/**
 * Runs what may be refused, and throws a refusal as an error.
 *
 * @template T
 * @param {string} source
 * @param {() => T} run
 * @returns {T}
 */
function refusing(source, run) {
  try {
    return run()
  } catch (refusal) {
    if (!Array.isArray(refusal)) throw refusal
    const [code, message, position] = refusal
    const before = new TextDecoder().decode(new TextEncoder().encode(source).subarray(0, position))
    const lines = before.split('\n')
    const column = Array.from(lines.at(-1) ?? '').length + 1
    throw new MillstreamError(code, `line ${lines.length}, column ${column}: ${message}`)
  }
}

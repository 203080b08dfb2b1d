// From the engine's JSON to the frozen commit that all subscribers of a class share.

/**
 * Relations by the number entries name them with.
 *
 * @typedef {Map<number, Readonly<import('./types/index.js').Relation>>} Relations
 */

const decoder = new TextDecoder()

/** A commit as bytes until somebody asks for it, and from then on one frozen object. */
export class LazyCommit {
  /** @type {Uint8Array | null} */
  #bytes
  #relations
  /** @type {import('./types/index.js').Commit | null} */
  #commit = null

  /**
   * @param {number} seq
   * @param {Uint8Array} bytes `[commit, patches]` as JSON
   * @param {Relations} relations
   */
  constructor(seq, bytes, relations) {
    this.seq = seq
    this.#bytes = bytes
    this.#relations = relations
  }

  get value() {
    if (this.#commit === null) {
      this.#commit = build(decoder.decode(this.#bytes ?? new Uint8Array()), this.#relations)
      this.#bytes = null
    }
    return this.#commit
  }
}

/**
 * @param {string} text
 * @param {Relations} relations
 * @returns {import('./types/index.js').Commit}
 */
function build(text, relations) {
  const [commit, patches] = JSON.parse(text)
  for (const patch of patches) applyPatch(commit.entries, patch)
  for (const entry of commit.entries) entry.relation = relations.get(entry.relation)
  return freezeDeep(commit)
}

/**
 * Puts in place a value that JSON cannot hold: the patch is its path from the entries, its kind and its text.
 *
 * @param {any} entries
 * @param {(string | number)[]} patch
 */
function applyPatch(entries, patch) {
  const text = /** @type {string} */ (patch.at(-1))
  const kind = patch.at(-2)
  const key = /** @type {string | number} */ (patch.at(-3))
  let holder = entries
  for (const step of patch.slice(0, -3)) holder = holder[step]
  if (kind === 'n') {
    define(holder, key, { value: BigInt(text), writable: true })
    return
  }
  const bytes = fromHex(text)
  // Typed arrays cannot be frozen: each reader gets bytes of its own.
  define(holder, key, { get: () => bytes.slice() })
}

/**
 * Defines rather than assigns, since a column may be called `__proto__`.
 *
 * @param {object} holder
 * @param {string | number} key
 * @param {PropertyDescriptor} descriptor
 */
function define(holder, key, descriptor) {
  Object.defineProperty(holder, key, { ...descriptor, enumerable: true, configurable: true })
}

/** @param {string} hex */
function fromHex(hex) {
  const bytes = new Uint8Array(hex.length / 2)
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16)
  }
  return bytes
}

/**
 * Freezes a value and all it holds, without recursion: documents may be nested deeper than the stack.
 *
 * @template T
 * @param {T} root
 * @returns {T}
 */
export function freezeDeep(root) {
  const left = [root]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue
    Object.freeze(value)
    for (const key of Object.keys(value)) {
      const { value: held } = /** @type {PropertyDescriptor} */ (
        Object.getOwnPropertyDescriptor(value, key)
      )
      if (typeof held === 'object' && held !== null) left.push(held)
    }
  }
  return root
}

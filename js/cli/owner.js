// The owner of a server: whoever bears its token.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** @param {string} text */
const digestOf = (text) => createHash('sha256').update(text).digest()

/** A token that nobody guesses. */
export function makeToken() {
  return randomBytes(16).toString('hex')
}

/** Knows the owner by a token, of which it keeps only the digest. */
export class Owner {
  #digest

  /** @param {string} token */
  constructor(token) {
    this.#digest = digestOf(token)
  }

  /**
   * Whether an `Authorization` header is the owner's. How long that takes tells nothing of the token.
   *
   * @param {string | undefined} authorization
   */
  knows(authorization = '') {
    const [, token] = /^Bearer +(\S+) *$/i.exec(authorization) ?? []
    return token !== undefined && timingSafeEqual(digestOf(token), this.#digest)
  }
}

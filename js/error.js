// The one error of this package.

/** What went wrong: `code` for a program, `message` with the remedy for a person. */
export class MillstreamError extends Error {
  name = 'MillstreamError'

  /**
   * @param {import('./types/index.js').ErrorCode} code
   * @param {string} message
   * @param {{
   *   cause?: unknown,
   *   gap?: import('./types/index.js').Gap,
   *   refusals?: import('./types/index.js').SchemaRefusal[],
   * }} [more]
   */
  constructor(code, message, { cause, gap, refusals } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    /** A stable word. */
    this.code = code
    if (gap) {
      /** What was missed, where the code is `gap`. */
      this.gap = gap
    }
    if (refusals) {
      /** Everything that is wrong, where the code is `bad_schema`. */
      this.refusals = refusals
    }
  }
}

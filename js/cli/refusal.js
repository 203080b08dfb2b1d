// What the command line says instead of a stack trace: a sentence that names the remedy.

/** Printed as it is; the process ends with the exit code. */
export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {{ exitCode?: 1 | 2, cause?: unknown }} [more] 2 where the words were wrong, 1 where the world was
   */
  constructor(message, { exitCode = 1, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCode
  }
}

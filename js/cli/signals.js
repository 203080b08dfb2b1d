// Ctrl-C: once to close in order, again to end at once.

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM'])
/** npm passes a Ctrl-C on that the terminal has sent already: two so close are one. */
const SAME_MS = 500

/** Resolves at the first interruption, and ends the process at a second one. */
export function interrupted() {
  /** @type {() => void} */
  let forget = () => undefined
  const first = new Promise((resolve) => {
    let since = Number.POSITIVE_INFINITY
    const hear = (/** @type {NodeJS.Signals} */ signal) => {
      if (performance.now() - since > SAME_MS) process.exit(signal === 'SIGINT' ? 130 : 143)
      since = Math.min(since, performance.now())
      resolve(signal)
    }
    for (const signal of SIGNALS) process.on(signal, hear)
    forget = () => {
      for (const signal of SIGNALS) process.off(signal, hear)
    }
  })
  return Object.assign(first, { forget })
}

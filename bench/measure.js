// How the benchmarks measure: medians of rounds in which the candidates take turns.

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/**
 * How many milliseconds one run of each candidate takes: the median of rounds, the first of which only warms up.
 *
 * @template {string} Name
 * @param {number} rounds
 * @param {Record<Name, () => unknown>} candidates
 * @returns {Promise<Record<Name, number>>}
 */
export async function turns(rounds, candidates) {
  /** @type {[Name, () => unknown][]} */
  const entries = /** @type {any} */ (Object.entries(candidates))
  const taken = Object.fromEntries(entries.map(([name]) => [name, /** @type {number[]} */ ([])]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of entries) {
      const start = performance.now()
      await run()
      if (round > 0) taken[name]?.push(performance.now() - start)
    }
  }
  const medians = Object.entries(taken).map(([name, values]) => [name, median(values)])
  return /** @type {any} */ (Object.fromEntries(medians))
}

/** @param {number} ms */
export const inMs = (ms) => `${ms.toFixed(ms < 10 ? 3 : 1)} ms`
/** @param {number} ms */
export const inUs = (ms) => `${(ms * 1e3).toFixed(1)} µs`
/** @param {number} ms */
export const inNs = (ms) => `${(ms * 1e6).toFixed(0)} ns`
/** @param {number} value */
export const times = (value) => `${value.toFixed(2)} ×`

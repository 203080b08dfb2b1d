// `npm run soak`: the counts that are too large for every test run. Prints its seeds, so that a failure can be
// run again: `npm run soak -- replay 7`.

import { PGlite } from '@electric-sql/pglite'
import { replay } from './host/replay.js'

const [suite = 'replay', first] = process.argv.slice(2)
const SEEDS = 200
const TRANSACTIONS = 200

/** @type {Record<string, (seed: number) => Promise<unknown>>} */
const suites = {
  /** Random transactions, whose commits are replayed over the first snapshot and compared with the tables. */
  replay: async (seed) => {
    const pglite = await PGlite.create()
    await replay(pglite, seed, TRANSACTIONS)
    await pglite.close()
  },
}

const run = suites[suite]
if (!run) {
  console.error(`There is no suite '${suite}'; the suites: ${Object.keys(suites).join(', ')}.`)
  process.exit(1)
}
const seeds = first ? [Number(first)] : Array.from({ length: SEEDS }, (_, index) => index + 1)
for (const seed of seeds) {
  console.log(`${suite}, seed ${seed} …`)
  await run(seed)
}

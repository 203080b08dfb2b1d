// Replay equals the table: the commits received, applied to the first state, give the last one.

import { after, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { replay } from './replay.js'

const SEEDS = Number(process.env.REPLAY_SEEDS ?? 3)
const FIRST = Number(process.env.REPLAY_SEED ?? 1)
const TRANSACTIONS = Number(process.env.REPLAY_TRANSACTIONS ?? 80)

const pglite = await PGlite.create()
after(() => pglite.close())

for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
  test(`${TRANSACTIONS} random transactions replay to the tables' contents, seed ${seed}`, async () => {
    await replay(pglite, seed, TRANSACTIONS)
  })
}

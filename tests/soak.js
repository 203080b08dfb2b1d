// `npm run soak`: the counts that are too large for every test run. Prints its seeds, so that a failure can be
// run again: `npm run soak -- replay 7`.

import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { PGlite } from '@electric-sql/pglite'
import { Millstream } from 'millstream'
import { PGliteClient } from 'millstream/pglite'
import { serve } from 'millstream/server'
import { Reader, until } from './host/reader.js'
import { replay } from './host/replay.js'

const [chosen, ...words] = process.argv.slice(2)
const SEEDS = 200
const TRANSACTIONS = 200
const CONNECTIONS = 10_000
const AT_ONCE = 100
/** How much memory may have grown. */
const SLACK = 0.05
const SLACK_BYTES = 2 << 20

/** @type {Record<string, (words: string[]) => Promise<unknown>>} */
const suites = { replay: replays, streams: simulation, connections }

for (const [name, run] of Object.entries(suites)) {
  if (!chosen || chosen === name) await run(words)
}
if (chosen && !suites[chosen]) {
  console.error(`There is no suite '${chosen}'; the suites: ${Object.keys(suites).join(', ')}.`)
  process.exitCode = 1
}

/**
 * Random transactions, whose commits are replayed over the first snapshot and compared with the tables.
 *
 * @param {string[]} words
 */
async function replays([first]) {
  const seeds = first ? [Number(first)] : Array.from({ length: SEEDS }, (_, index) => index + 1)
  for (const seed of seeds) {
    console.log(`replay, seed ${seed} …`)
    const pglite = await PGlite.create()
    await replay(pglite, seed, TRANSACTIONS)
    await pglite.close()
  }
}

/** Entity streams under faults, as the core's tests have them, and many more of them. */
async function simulation([runs = '2000'] = []) {
  const line = ['test', '--release', '--test', 'core', 'stream_sim', '--', '--nocapture']
  const env = { ...process.env, STREAM_RUNS: runs }
  const { status } = spawnSync('cargo', line, { stdio: 'inherit', env })
  if (status !== 0) throw new Error('a run of the simulation failed')
}

/** Streams that are opened, told of a row and left, after which memory is where it was. */
async function connections() {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const pglite = await PGlite.create()
  const db = new PGliteClient(pglite)
  await db.exec('create table orders (id bigint generated always as identity primary key)')
  const schema = {
    entities: [
      {
        name: 'order',
        relation: 'orders',
        access: { anonymous: true },
        events: [{ name: 'changed' }],
        subscriptions: [{ name: 'all' }],
      },
    ],
  }
  const stream = await Millstream.open({ db, schema })
  const server = await serve(stream, { port: 0 })
  /** @type {number[]} */
  const heaps = []
  for (let connected = 0; connected <= CONNECTIONS; connected += AT_ONCE) {
    const readers = Array.from(
      { length: AT_ONCE },
      () => new Reader(`${server.url}/subscribe/order`),
    )
    await Promise.all(readers.map((reader) => reader.open()))
    await db.query('insert into orders default values')
    await Promise.all(readers.map((reader) => reader.until(({ events }) => events.length === 1)))
    readers.forEach((reader, index) => {
      reader.leave({ reset: index % 2 === 0 })
    })
    await until(() => stream.stats().activeSubscriptions === 0)
    if (connected % (CONNECTIONS / 10) !== 0) continue
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    heaps.push(heapUsed + arrayBuffers)
    console.log(`connections, ${connected}: ${((heapUsed + arrayBuffers) / 1e6).toFixed(1)} MB`)
  }
  await server.close()
  await db.close()
  await pglite.close()
  // The first rounds fill caches.
  const [, begun = 0] = heaps
  const grown = (heaps.at(-1) ?? 0) - begun
  if (grown > Math.max(SLACK * begun, SLACK_BYTES)) {
    throw new Error(`${CONNECTIONS} connections left ${grown} bytes behind`)
  }
}

// From INSERT to callback, beside PGlite's own live queries: how long after the write began each one knows.

import { PGlite } from '@electric-sql/pglite'
import { live } from '@electric-sql/pglite/live'
import { PGliteClient } from 'millstream/pglite'
import { inMs, median, times } from './measure.js'

const ROWS = 1_000
const WRITES = 200

/** @returns {Promise<[string, string][]>} */
export async function latency() {
  const write = await measure(async () => ({ wait: null }))
  const ours = await measure(async (pglite) => {
    const db = new PGliteClient(pglite)
    const next = waiter()
    await db.wal.subscribe({ public: 'orders' }, () => next.arrive())
    return { wait: next.wait }
  })
  const theirs = await measure(async (pglite) => {
    const next = waiter()
    const changes = /** @type {any} */ (pglite).live.changes
    await changes('select * from orders', [], 'id', () => next.arrive())
    return { wait: next.wait }
  })
  return [
    ['INSERT alone, p50', inMs(write)],
    [`INSERT to callback, ${ROWS} rows in the table, p50`, inMs(ours)],
    ['the same through live.changes, p50', inMs(theirs)],
    ['added by us against added by live.changes', times((ours - write) / (theirs - write))],
  ]
}

/** @param {(pglite: PGlite) => Promise<{ wait: (() => Promise<void>) | null }>} subscribe */
async function measure(subscribe) {
  const pglite = await PGlite.create({ extensions: { live } })
  await pglite.exec(`
    create table orders (id int primary key, title text);
    insert into orders select id, 'title' from generate_series(1, ${ROWS}) id;
  `)
  const { wait } = await subscribe(pglite)
  const taken = []
  for (let id = ROWS + 1; id <= ROWS + WRITES; id++) {
    const arrived = wait?.()
    const start = performance.now()
    await pglite.query('insert into orders values ($1, $2)', [id, 'title'])
    await arrived
    taken.push(performance.now() - start)
  }
  await pglite.close()
  return median(taken)
}

/** Waits for the next arrival. */
function waiter() {
  let arrive = () => undefined
  return {
    arrive: () => arrive(),
    wait: () =>
      new Promise((/** @type {(value: void) => void} */ resolve) => {
        arrive = () => {
          resolve()
          return undefined
        }
      }),
  }
}

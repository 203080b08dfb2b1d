// What capture adds to a write: the same table with and without it.

import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'
import { inMs, times, turns } from './measure.js'

const COLUMNS = 'id int primary key, title text, amount numeric, at timestamptz default now()'
const BULK = 5_000
const SINGLE = 100

/** @returns {Promise<[string, string][]>} */
export async function capture() {
  const plain = await PGlite.create()
  const captured = await PGlite.create()
  const db = new PGliteClient(captured)
  await db.connect()
  for (const pglite of [plain, captured]) await pglite.exec(`create table orders (${COLUMNS})`)

  let next = 0
  const single = (/** @type {PGlite} */ pglite) => async () => {
    for (let times = 0; times < SINGLE; times++) {
      await pglite.query('insert into orders values ($1, $2, $3)', [next++, 'title', '12.50'])
    }
  }
  const insert = (/** @type {PGlite} */ pglite) => () => {
    const from = next
    next += BULK
    return pglite.exec(
      `insert into orders select id, 'title', 12.50 from generate_series(${from}, ${next - 1}) id`,
    )
  }
  const update = (/** @type {PGlite} */ pglite) => () =>
    pglite.exec(
      `update orders set amount = amount + 1
        where id in (select id from orders order by id desc limit ${BULK})`,
    )

  /** @type {[string, string][]} */
  const figures = []
  for (const [what, work, n] of /** @type {const} */ ([
    ['one row inserted', single, SINGLE],
    [`${BULK} rows inserted by one statement`, insert, 1],
    [`${BULK} rows updated by one statement`, update, 1],
  ])) {
    const ms = await turns(5, { without: work(plain), with: work(captured) })
    figures.push([
      `${what}: without capture, with, ratio`,
      `${inMs(ms.without / n)}, ${inMs(ms.with / n)}, ${times(ms.with / ms.without)}`,
    ])
  }
  await db.close()
  await captured.close()
  await plain.close()
  return figures
}

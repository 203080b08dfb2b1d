// `npm start`: an embedded PGlite that is written to, and the commits as they arrive in a callback.

import { createInterface } from 'node:readline/promises'
import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from '../database/pglite/client.js'

/** @import { Commit, Entry } from '../types/index.js' */

const PROMPT = 'sql> '
const paint = (/** @type {number} */ code) => (/** @type {string} */ text) =>
  process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text
const [bold, dim, red, green, yellow, cyan] = [1, 2, 31, 32, 33, 36].map(paint)
const signs = { insert: green('+'), update: yellow('~'), delete: red('-'), truncate: red('×') }

const DEMO = [
  `create table orders (id int primary key, title text, status text)`,
  `insert into orders values (1, 'first', 'draft'), (2, 'second', 'draft')`,
  `update orders set status = 'placed' where id = 1;
   insert into orders values (3, 'third', 'placed')`,
  `begin; delete from orders; rollback`,
  `delete from orders where id = 2`,
]

console.log(dim('opening an embedded PGlite …'))
const pglite = await PGlite.create()
const db = new PGliteClient(pglite)
await db.wal.subscribe(show)

for (const sql of DEMO) {
  console.log(`${dim(PROMPT)}${sql}`)
  await run(sql)
}
console.log(`
These were written to an embedded PostgreSQL, and each ${bold('commit')} reached ${cyan('db.wal.subscribe')}:
two statements in one query are one commit, and what is rolled back is none.
Now you: type SQL, one query a line. ${bold('\\q')} leaves.
`)

const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: PROMPT })
lines.prompt()
for await (const line of lines) {
  const sql = line.trim()
  if (['\\q', 'exit', 'quit'].includes(sql)) break
  if (sql) await run(sql)
  lines.prompt()
}
lines.close()
await db.close()
await pglite.close()

/**
 * Runs a query and waits until its commit, if it made one, has been shown.
 *
 * @param {string} sql
 */
async function run(sql) {
  try {
    const { rows } = await db.query(sql)
    if (rows.length > 0) console.table(rows)
    // A subscription that begins and ends here is given all that was committed before, and so is `show`.
    await (await db.wal.subscribe(() => undefined)).abort()
  } catch (error) {
    console.log(red(error instanceof Error ? error.message : String(error)))
  }
}

/** @param {Commit} commit */
function show({ txId, seq, entries }) {
  const count = entries.length === 1 ? '1 entry' : `${entries.length} entries`
  console.log(cyan(`commit ${txId}`), dim(`seq ${seq}, ${count}`))
  for (const entry of entries) console.log(`  ${signs[entry.op]} ${describe(entry)}`)
}

/** @param {Entry} entry */
function describe(entry) {
  const name = bold(`${entry.relation.namespace}.${entry.relation.name}`)
  switch (entry.op) {
    case 'insert':
      return `${name} ${text(entry.new)}`
    case 'update':
      return `${name} ${text(entry.old)} → ${text(entry.new)}`
    case 'delete':
      return `${name} ${text(entry.old)}`
    case 'truncate':
      return `${name} truncated`
  }
}

/** @param {import('../types/index.js').Row} row */
function text(row) {
  return JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}

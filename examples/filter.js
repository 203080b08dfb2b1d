// The server's conditions in JavaScript: which commits of a table somebody wants. Run it with `node examples/filter.js`.

import { PGlite } from '@electric-sql/pglite'
import { compile } from 'millstream/expr'
import { PGliteClient } from 'millstream/pglite'

const filter = compile('payload.total > 100 && status != "draft"', {
  id: 'integer',
  status: 'text',
  total: 'numeric',
})

const db = new PGliteClient(await PGlite.create())
await db.query('CREATE TABLE orders (id int PRIMARY KEY, status text, total numeric)')

const sub = await db.wal.subscribe({ public: ['orders'] }, ({ entries }) => {
  for (const entry of entries) {
    if (entry.op === 'insert' && filter.matches(entry.new)) console.log(entry.new)
  }
})

await db.query(`
  INSERT INTO orders VALUES (1, 'draft', 500), (2, 'placed', 100.01), (3, 'placed', 100), (4, NULL, 200);
`)
await sub.abort()

// The README's example: two commits, not three. Run it with `node examples/subscribe.js`.

import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'

const db = new PGliteClient(await PGlite.create())
await db.query('CREATE TABLE users (id int PRIMARY KEY, name text)')

const sub = await db.wal.subscribe({ public: ['users'] }, (commit) => console.log(commit))

await db.query(`
  INSERT INTO users (id, name) VALUES (1, 'Ada');
  UPDATE users SET name = 'Ada Lovelace' WHERE id = 1;
`)
await db.query('DELETE FROM users WHERE id = 1')
await sub.abort()

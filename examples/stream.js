// Streams over HTTP: serves one, listens to it, and writes a row. Run it with `node examples/stream.js`.

import { PGlite } from '@electric-sql/pglite'
import { Millstream } from 'millstream'
import { PGliteClient } from 'millstream/pglite'
import { serve } from 'millstream/server'

const db = new PGliteClient(await PGlite.create())
await db.query('CREATE TABLE orders (id int PRIMARY KEY, title text)')

const stream = await Millstream.open({
  db,
  schema: {
    entities: [
      {
        name: 'order',
        relation: 'orders',
        access: { anonymous: true },
        events: [{ name: 'changed' }],
        subscriptions: [{ name: 'all', eventtypes: ['create', 'delete'] }],
      },
    ],
  },
})
const server = await serve(stream, { port: 0 })

const { body } = await fetch(`${server.url}/subscribe/order`)
const shown = body?.pipeTo(
  new WritableStream({ write: (bytes) => void process.stdout.write(bytes) }),
)

await db.query(`INSERT INTO orders VALUES (1, 'first'); UPDATE orders SET title = 'changed'`)
await db.query('DELETE FROM orders')
while (stream.stats().delivered < 2) await new Promise((resolve) => setTimeout(resolve, 10))

await server.close()
await shown
await db.close()

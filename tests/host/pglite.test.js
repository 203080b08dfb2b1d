// PGlite in memory, through the suite of all databases.

import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'
import { databaseSuite } from './database.js'

databaseSuite({
  name: 'PGlite',
  namespace: 'public',
  open: async () => {
    const pglite = await PGlite.create()
    const db = new PGliteClient(pglite)
    return {
      db,
      raw: (sql) => pglite.exec(sql),
      close: async () => {
        await db.close()
        await pglite.close()
      },
    }
  },
})

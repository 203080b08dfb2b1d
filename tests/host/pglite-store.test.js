// The log in PGlite is trimmed when nobody's transaction is open, and never within one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { install } from '../../js/database/pglite/capture.js'
import { PGliteStore } from '../../js/database/pglite/store.js'
import { Lock } from '../../js/lock.js'

test('a trim keeps out of an open transaction, and is done when that is over', async () => {
  const pglite = await PGlite.create()
  await pglite.transaction((tx) => tx.exec(install))
  await pglite.exec(`
    create table filler (id int primary key);
    insert into filler select generate_series(1, 12000);
  `)
  const store = new PGliteStore(pglite, new Lock())
  const retained = async () => {
    const { rows } = await pglite.query('select count(*)::int as n from millstream.log')
    return /** @type {{ n: number }[]} */ (rows)[0]?.n
  }

  await pglite.exec('begin; insert into filler values (0)')
  // So many that a VACUUM follows, which fails any transaction it is tried in.
  await store.trim({ to: 11_000, before: 0, limit: 11_000 })
  await pglite.exec('commit')
  assert.equal(await retained(), 12_001)

  await store.trim({ to: 11_000, before: 0, limit: 11_000 })
  assert.equal(await retained(), 1_001)
  await pglite.close()
})

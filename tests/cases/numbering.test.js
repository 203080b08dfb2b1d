// Numbers only grow, and a transaction's id names it for ever: after a restart, too.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'
import { told } from './support.js'

/** @import { Commit } from 'millstream' */

/**
 * Opens the database in a folder, and closes it when the work is done.
 *
 * @template T
 * @param {string} folder
 * @param {(db: PGliteClient, pglite: PGlite) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function life(folder, work) {
  const pglite = await PGlite.create(folder)
  const db = new PGliteClient(pglite)
  try {
    return await work(db, pglite)
  } finally {
    await db.close()
    await pglite.close()
  }
}

// Case 19
test('seq strictly grows, txId never repeats, and the log outlives its database being closed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millstream-'))
  t.after(() => rm(folder, { recursive: true }))
  /** @type {Commit[]} */
  const commits = []
  const see = (/** @type {Commit} */ commit) => commits.push(commit)
  const ids = () => commits.map(({ entries: [entry] }) => entry && 'new' in entry && entry.new.id)

  await life(folder, async (db) => {
    await db.exec('create table t (id int primary key)')
    const sub = await db.wal.subscribe({ public: 't' }, see)
    await db.query('insert into t values (1)')
    await db.exec('begin; insert into t values (99); rollback;')
    await db.transaction((tx) => tx.query('insert into t values (2)'))
    await sub.abort()
    await db.query('insert into t values (3)')
  })
  await life(folder, async (db, pglite) => {
    // Before anybody connects: the triggers are in the database.
    await pglite.exec('insert into t values (4)')
    const sub = await db.wal.subscribe({ public: 't' }, see, { since: Number(commits.at(-1)?.seq) })
    await db.query('insert into t values (5)')
    await sub.abort()
    assert.deepEqual(ids(), [1, 2, 3, 4, 5])
    // With nothing left in the log to count from.
    await db.query('select millstream.trim_log($1, 0, 1000)', [commits.at(-1)?.seq])
  })
  await life(folder, async (db) => {
    const sub = await db.wal.subscribe({ public: 't' }, see)
    await db.query('insert into t values (6)')
    await sub.abort()
    assert.deepEqual(ids(), [1, 2, 3, 4, 5, 6])

    /** @type {Commit[]} */
    const again = []
    const late = await db.wal.subscribe({ public: 't' }, (commit) => again.push(commit), {
      since: 'start',
    })
    await late.abort()
    assert.deepEqual(
      again.map(({ entries }) => entries.map(told)),
      [[['insert', 't', { id: 6 }]]],
    )
  })

  for (const [index, commit] of commits.entries()) {
    const before = commits[index - 1]
    assert.ok(!before || (commit.seq > before.seq && commit.commitTime >= before.commitTime))
  }
  assert.equal(new Set(commits.map(({ txId }) => txId)).size, commits.length)
  assert.deepEqual(
    commits.map(({ seq }) => seq),
    commits.map((_, index) => index + 1),
  )
})

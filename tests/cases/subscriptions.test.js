// What becomes of one subscription, client or transaction is its own affair.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'
import { open, told } from './support.js'

/** @import { Commit } from 'millstream' */

const { pglite, db, check } = await open()

// C157
test('the end of one subscription leaves another with the same selector and callback at work', async () => {
  await db.exec('create table twice (id int primary key)')
  /** @type {Commit[]} */
  const commits = []
  const callback = (/** @type {Commit} */ commit) => commits.push(commit)
  const selector = { public: 'twice' }
  const first = await db.wal.subscribe(selector, callback)
  const second = await db.wal.subscribe(selector, callback)
  await db.query('insert into twice values (1)')
  await first.abort()
  assert.ok(!second.aborted)
  await db.query('insert into twice values (2)')
  // The class they shared is left by one and joined by a third.
  const third = await db.wal.subscribe(selector, callback)
  await second.abort()
  await db.query('insert into twice values (3)')
  await third.abort()
  await db.query('insert into twice values (4)')
  const ids = commits.map(({ entries: [entry] }) => entry && 'new' in entry && entry.new.id)
  assert.deepEqual(ids.sort(), [1, 1, 2, 3])
})

test('two clients of one database see all commits each, and the end of one is not that of the other', async () => {
  await db.exec('create table each_ (id int primary key)')
  const other = new PGliteClient(pglite)
  /** @type {Commit[]} */
  const commits = []
  await other.wal.subscribe({ public: 'each_' }, (commit) => commits.push(commit))
  await check(
    { public: 'each_' },
    async () => {
      await db.query('insert into each_ values (1)')
      await other.query('insert into each_ values (2)')
      await other.close()
      await db.query('insert into each_ values (3)')
    },
    [1, 2, 3].map((id) => [['insert', 'each_', { id }]]),
  )
  assert.deepEqual(
    commits.map(({ entries }) => entries.map(told)),
    [1, 2].map((id) => [['insert', 'each_', { id }]]),
  )
})

// C159
test('a client that is closed in the middle of a transaction rolls it back, and others go on', async () => {
  await db.exec('create table left_ (id int primary key)')
  const gone = new PGliteClient(pglite)
  const tx = await gone.begin()
  await tx.query('insert into left_ values (1)')
  await gone.close()
  try {
    assert.ok(tx.ended)
  } finally {
    // Else nobody would ever get at the database again, and this file would end without a word.
    if (!tx.ended) await tx.rollback()
  }
  await assert.rejects(tx.query('select 1'), { code: 'transaction_closed' })
  await assert.rejects(tx.commit(), { code: 'transaction_closed' })
  const work = 'insert into left_ select count(*) from left_'
  await check({ public: 'left_' }, work, [[['insert', 'left_', { id: 0 }]]])
})

test('abort hands over what was committed before it, however long the database is busy', async () => {
  await db.exec('create table busy (id int primary key)')
  await check({ public: 'busy' }, async () => {
    const writing = db.query('insert into busy values (1)')
    // In line before the reading that the write calls for, and longer than a callback is waited for.
    const slow = db.query('select pg_sleep(1.5)')
    await writing
    slow.catch(() => undefined)
  }, [[['insert', 'busy', { id: 1 }]]])
})

test('a transaction that is left open fails who waits for it, says so, and may still be ended', async () => {
  await db.exec('create table waited (id int primary key)')
  await check(
    { public: 'waited' },
    async () => {
      const tx = await db.begin()
      await tx.query('insert into waited values (1)')
      const refused = { name: 'MillstreamError', code: 'transaction_open' }
      await Promise.all([
        assert.rejects(db.query('insert into waited values (2)'), refused),
        assert.rejects(db.begin(), refused),
        assert.rejects(
          db.wal.subscribe('*', () => undefined),
          refused,
        ),
      ])
      await tx.commit()
      await db.query('insert into waited values (3)')
    },
    [1, 3].map((id) => [['insert', 'waited', { id }]]),
  )
})

test('abort hands over what was committed before it, or says what it kept back', async () => {
  await db.exec('create table parting (id int primary key)')
  /** @type {unknown[]} */
  const heard = []
  const sub = await db.wal.subscribe(
    { public: 'parting' },
    (commit) => heard.push(...commit.entries.map(told)),
    {
      onError: (error) => heard.push(/** @type {any} */ (error).code),
    },
  )
  const writing = db.query('insert into parting values (1)')
  // In line before the reading that the write calls for.
  const opening = db.begin()
  await writing
  const ending = sub.abort()
  const tx = await opening
  // Five seconds, in which the reading has to wait.
  await assert.rejects(db.query('select 1'), { code: 'transaction_open' })
  await tx.commit()
  await ending
  assert.ok(heard.length === 1)
  if (heard[0] !== 'unfinished') assert.deepEqual(heard, [['insert', 'parting', { id: 1 }]])
})

test('an onError that throws hurts nobody, and the client still closes', async (context) => {
  const printed = context.mock.method(console, 'error', () => undefined)
  const client = new PGliteClient(pglite, {
    onError: () => {
      throw new Error('from onError')
    },
  })
  await client.exec('create table thrown (id int primary key)')
  let calls = 0
  const sub = await client.wal.subscribe({ public: 'thrown' }, () => {
    calls += 1
    throw new Error('from the callback')
  })
  await client.query('insert into thrown values (1)')
  await client.query('insert into thrown values (2)')
  await sub.abort()
  await client.close()
  assert.equal(calls, 2)
  assert.deepEqual(
    printed.mock.calls.map(({ arguments: [error] }) => String(error)),
    ['Error: from onError', 'Error: from onError'],
  )
})

test('a closed client says so, however often it is closed', async () => {
  const client = new PGliteClient(pglite)
  await client.query('select 1')
  await Promise.all([client.close(), client.close()])
  await client.close()
  await assert.rejects(client.query('select 1'), { code: 'closed' })
  await assert.rejects(
    client.wal.subscribe(() => undefined),
    { code: 'closed' },
  )
})

test('whoever leaves an iteration leaves at once, whatever else is waiting', async () => {
  await db.exec('create table left_early (id int primary key)')
  /** @type {unknown[]} */
  const errors = []
  const sub = await db.wal.subscribe({ public: 'left_early' }, undefined, {
    onError: (error) => errors.push(error),
  })
  for (let id = 0; id < 5; id++) await db.query('insert into left_early values ($1)', [id])
  for await (const _ of sub) break
  assert.ok(sub.aborted)
  assert.deepEqual(errors, [])
})

test('a database that is closed under an iteration ends it with the reason', async () => {
  const closing = await PGlite.create()
  const client = new PGliteClient(closing)
  await client.exec('create table gone (id int primary key)')
  const sub = await client.wal.subscribe({ public: 'gone' })
  await closing.query('insert into gone values (1)')
  const iterating = (async () => {
    for await (const _ of sub) {
      await closing.close()
      // Whatever makes the engine read again finds the database closed.
      await client.wal.subscribe(() => undefined).catch(() => undefined)
    }
  })()
  await assert.rejects(iterating, { code: 'database_closed' })
})

test('many who wait for short transactions are all served, however long that takes together', async () => {
  await db.exec('create table in_line (id int primary key)')
  const ids = Array.from({ length: 7 }, (_, id) => id)
  await Promise.all(
    ids.map((id) =>
      db.transaction(async (tx) => {
        await tx.query('insert into in_line values ($1)', [id])
        await tx.query('select pg_sleep(0.9)')
      }),
    ),
  )
  const { rows } = await db.query('select count(*)::int as n from in_line')
  assert.deepEqual(rows, [{ n: 7 }])
})

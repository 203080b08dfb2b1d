// What survives a stop of the engine itself. The engine here is the real one, built to stop where its input
// says so: `cargo xtask build --fault` leaves it in target/fault/pkg, and the host's own files go beside it.

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { Reader } from './reader.js'

const root = new URL('../../', import.meta.url)
const faulty = new URL('target/fault/', root)

describe('an engine that stops', () => {
  /** @type {any} */
  let PGliteClient
  /** @type {PGlite} */
  let pglite
  /** @type {any} */
  let db
  /** @type {any[]} */
  const reported = []

  before(async () => {
    for (const name of ['js', 'package.json']) {
      cpSync(fileURLToPath(new URL(name, root)), fileURLToPath(new URL(name, faulty)), {
        recursive: true,
      })
    }
    const client = new URL('js/database/pglite/client.js', faulty)
    PGliteClient = (await import(client.href)).PGliteClient
    pglite = await PGlite.create()
    db = new PGliteClient(pglite, { onError: (/** @type {unknown} */ it) => reported.push(it) })
    await db.exec(`
      create table users (id int primary key);
      create table stops_the_engine (id int primary key);
    `)
  })
  after(async () => {
    await db.close()
    await pglite.close()
  })

  const ids = (/** @type {any} */ commit) =>
    commit.entries.map((/** @type {any} */ entry) => entry.new.id)

  test('at a script: it is sent as it is, and the write that follows is delivered', async () => {
    /** @type {number[]} */
    const seen = []
    const sub = await db.wal.subscribe({ public: 'users' }, (/** @type {any} */ commit) =>
      seen.push(...ids(commit)),
    )
    await db.query('insert into users values (1)')
    await db.query(`insert into users values (2); select 'stop the engine'`)
    await db.query('insert into users values (3)')
    await sub.abort()
    assert.deepEqual(seen, [1, 2, 3])
    assert.deepEqual(reported, [])
  })

  test('twice at one commit: that commit is a gap, reported once, and others are delivered', async () => {
    /** @type {any[]} */
    const gaps = []
    /** @type {number[]} */
    const all = []
    /** @type {number[]} */
    const users = []
    const subs = [
      await db.wal.subscribe((/** @type {any} */ commit) => all.push(...ids(commit)), {
        onError: (/** @type {unknown} */ error) => gaps.push(error),
      }),
      await db.wal.subscribe({ public: 'users' }, (/** @type {any} */ commit) =>
        users.push(...ids(commit)),
      ),
    ]
    await db.query('insert into users values (4)')
    await db.query('insert into stops_the_engine values (5)')
    await db.query('insert into users values (6)')
    await Promise.all(subs.map((sub) => sub.abort()))
    assert.deepEqual(all, [4, 6])
    assert.deepEqual(users, [4, 6])
    assert.deepEqual(
      gaps.map((error) => [error.code, error.gap.reason]),
      [['gap', 'poison']],
    )
    assert.deepEqual(
      reported.map((error) => error.code),
      ['poison'],
    )
  })

  test('once, after a table of the selector was dropped: the others are still delivered', async () => {
    await db.query('create table doomed (id int primary key)')
    /** @type {number[]} */
    const seen = []
    const sub = await db.wal.subscribe(
      { public: ['doomed', 'users'] },
      (/** @type {any} */ commit) => seen.push(...ids(commit)),
    )
    await db.query('drop table doomed')
    await db.query(`select 'stop the engine'`)
    await db.query('insert into users values (100)')
    await sub.abort()
    assert.deepEqual(seen, [100])
  })

  test('while commits wait for a slow callback: each is still handed over, once', async () => {
    // A client of its own, since the stops of another's engine are not counted against it.
    const slow = new PGliteClient(pglite)
    /** @type {() => void} */
    let release = () => undefined
    const held = new Promise((resolve) => {
      release = () => resolve(null)
    })
    /** @type {number[]} */
    const seen = []
    const sub = await slow.wal.subscribe({ public: 'users' }, async (/** @type {any} */ commit) => {
      seen.push(...ids(commit))
      await held
      // Longer than the engine takes to find out where the log ends.
      for (let times = 0; times < 5; times++) await slow.query('select 1')
    })
    // What this one has seen, the slow one holds too.
    /** @type {number[]} */
    const quick = []
    await slow.wal.subscribe({ public: 'users' }, (/** @type {any} */ it) => quick.push(...ids(it)))
    for (let id = 200; id < 205; id++) await slow.query(`insert into users values (${id})`)
    while (quick.length < 5) await slow.query('select 1')
    await slow.query(`select 'stop the engine'`)
    const ending = sub.abort()
    release()
    await ending
    await slow.close()
    assert.deepEqual(seen, [200, 201, 202, 203, 204])
  })

  test('while streams are open: each goes on without a seam, and is told what was passed over', async () => {
    const { Millstream } = await import(new URL('js/index.js', faulty).href)
    const { serve } = await import(new URL('js/server/node.js', faulty).href)
    const own = new PGliteClient(pglite, { onError: () => undefined })
    const entity = (/** @type {string} */ name) => ({
      name,
      access: { anonymous: true },
      events: [{ name: 'changed' }],
      subscriptions: [{ name: 'all' }],
    })
    const schema = { entities: [entity('users'), entity('stops_the_engine')] }
    const stream = await Millstream.open({ db: own, schema })
    const server = await serve(stream, { port: 0 })
    const users = await new Reader(`${server.url}/subscribe/users`).open()
    const stops = await new Reader(`${server.url}/subscribe/stops_the_engine`).open()
    await own.query('insert into users values (300)')
    await users.until(({ events }) => events.length === 1)
    await own.query(`insert into users values (301); select 'stop the engine'`)
    await own.query('insert into users values (302)')
    await users.until(({ events }) => events.length === 3)
    await own.query('insert into stops_the_engine values (6)')
    await own.query('insert into users values (303)')
    await users.until(({ events }) => events.length === 4)
    await stops.until(({ events }) => events.length === 1)
    assert.deepEqual(users.subjects, ['300', '301', '302', '303'])
    assert.deepEqual(stops.events[0]?.data.reason, 'poison')
    assert.equal(users.text.split('retry:').length, 2)
    await server.close()
    await Promise.all([users.over(), stops.over()])
    await own.close()
  })

  test('too often: subscriptions end with an error, and writes go on', async () => {
    /** @type {any[]} */
    const errors = []
    const sub = await db.wal.subscribe({ public: 'users' }, () => undefined, {
      onError: (/** @type {unknown} */ error) => errors.push(error),
    })
    for (let times = 0; !sub.aborted; times++) {
      assert.ok(times < 5)
      await db.query(`select 'stop the engine'`)
    }
    assert.deepEqual(
      errors.map((error) => error.code),
      ['engine_failed'],
    )
    await db.query('insert into users values ($1)', [7])
    await db.exec('insert into users values (8); insert into users values (9)')
    await assert.rejects(
      db.wal.subscribe(() => undefined),
      { code: 'engine_failed' },
    )
    const { rows } = await pglite.query('select count(*)::int as n from users')
    assert.deepEqual(rows, [{ n: 18 }])
  })
})

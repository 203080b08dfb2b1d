// Values outlive what crosses the boundary after them, and callbacks may call whatever they like.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PGliteClient } from 'millstream/pglite'
import { open, told } from './support.js'

/** @import { Commit } from 'millstream' */

const { pglite, db, commitsOf } = await open()

/** A promise, and the function that resolves it. */
function signal() {
  /** @type {(value?: any) => void} */
  let resolve = () => undefined
  const promise = new Promise((done) => {
    resolve = done
  })
  return { promise, resolve }
}

// C137
test('values that were handed over stay what they were while larger ones follow', async () => {
  await db.exec('create table wide (id int primary key, t text, b bytea, j jsonb)')
  const row = {
    id: 1,
    t: 'kept',
    b: new Uint8Array([0, 1, 255]),
    j: { big: 9007199254740993n, list: ['x', null] },
  }
  /** @type {Commit[]} */
  const commits = []
  const sub = await db.wal.subscribe({ public: 'wide' }, (commit) => commits.push(commit))
  await db.query(
    `insert into wide values (1, 'kept', '\\x0001ff', '{"big": 9007199254740993, "list": ["x", null]}')`,
  )
  for (const size of [1_000, 100_000, 10_000_000, 50_000_000]) {
    await db.query("insert into wide (id, t) values ($1::int, repeat('é', $1::int / 2))", [size])
  }
  await db.query("insert into wide (id, b) values (2, decode(repeat('00ff', 1000000), 'hex'))")
  await db.query('truncate wide')
  await sub.abort()
  assert.deepEqual(commits[0]?.entries.map(told), [['insert', 'wide', row]])
  const sizes = commits.slice(1, 5).map(({ entries: [entry] }) => {
    assert.ok(entry?.op === 'insert' && typeof entry.new.t === 'string')
    assert.ok(entry.new.t.startsWith('é') && entry.new.t.endsWith('é'))
    return 2 * entry.new.t.length
  })
  assert.deepEqual(sizes, [1_000, 100_000, 10_000_000, 50_000_000])
  const blob = commits[5]?.entries[0]
  assert.ok(blob?.op === 'insert' && blob.new.b instanceof Uint8Array)
  assert.equal(blob.new.b.length, 2_000_000)
  assert.ok(blob.new.b.every((byte, at) => byte === (at % 2 === 0 ? 0 : 255)))
})

test('rows of every size in turn arrive as they are', async () => {
  await db.exec('create table sized (id serial primary key, t text)')
  // Around what a reading, a ring and a part hold.
  const sizes = [
    0, 1, 255, 65_535, 1_048_575, 1_048_576, 1_048_577, 8_388_608, 8_388_609, 3, 2_000_000,
  ]
  const commits = await commitsOf({ public: 'sized' }, async () => {
    for (const size of sizes)
      await db.query("insert into sized (t) values (repeat('x', $1))", [size])
    await db.query(`insert into sized (t) select repeat('x', s) from unnest(array[${sizes}]) s`)
  })
  const seen = commits.flatMap(({ entries }) =>
    entries.map((entry) => 'new' in entry && /** @type {string} */ (entry.new.t).length),
  )
  assert.deepEqual(seen, [...sizes, ...sizes])
})

// C139
test('a callback may write, and its commit comes after the one at hand', async () => {
  await db.exec('create table chain (id int primary key)')
  const done = signal()
  /** @type {string[]} */
  const steps = []
  const sub = await db.wal.subscribe({ public: 'chain' }, async ({ entries: [entry] }) => {
    assert.ok(entry?.op === 'insert')
    const id = Number(entry.new.id)
    steps.push(`begin ${id}`)
    if (id < 5) {
      await db.query('insert into chain values ($1)', [id + 1])
      const { rows } = await db.query('select count(*)::int as n from chain')
      steps.push(`rows ${/** @type {{ n: number }} */ (rows[0]).n}`)
    } else done.resolve()
    steps.push(`end ${id}`)
  })
  await db.query('insert into chain values (1)')
  await done.promise
  await sub.abort()
  const turn = (/** @type {number} */ id) => [
    `begin ${id}`,
    ...(id < 5 ? [`rows ${id + 1}`] : []),
    `end ${id}`,
  ]
  assert.deepEqual(steps, [1, 2, 3, 4, 5].flatMap(turn))
})

test('a callback may subscribe and open transactions, by awaiting them or not', async () => {
  await db.exec(
    'create table outer_ (id int primary key); create table inner_ (id int primary key)',
  )
  const seen = signal()
  const subs = signal()
  const sub = await db.wal.subscribe({ public: 'outer_' }, async ({ entries: [entry] }) => {
    const nested = await db.wal.subscribe({ public: 'inner_' }, (commit) => seen.resolve(commit))
    await db.transaction(async (tx) => {
      await tx.query('insert into inner_ select id from outer_')
    })
    // Not awaited: it must neither hold up this callback nor be lost.
    db.wal.subscribe('*', () => undefined).then((another) => subs.resolve([nested, another]))
    assert.deepEqual(entry && told(entry), ['insert', 'outer_', { id: 1 }])
  })
  await db.query('insert into outer_ values (1)')
  const commit = await seen.promise
  assert.deepEqual(commit.entries.map(told), [['insert', 'inner_', { id: 1 }]])
  const others = await subs.promise
  await Promise.all([sub, ...others].map((it) => it.abort()))
})

test('a callback that throws or rejects is heard of, and the next commit comes nevertheless', async () => {
  await db.exec('create table thrown (id int primary key)')
  for (const [kind, fail] of /** @type {const} */ ([
    [
      'throws',
      (/** @type {Error} */ error) => {
        throw error
      },
    ],
    ['rejects', (/** @type {Error} */ error) => Promise.reject(error)],
    [
      'throws nothing',
      () => {
        throw undefined
      },
    ],
  ])) {
    /** @type {unknown[]} */
    const errors = []
    const why = new Error(kind)
    let n = 0
    const sub = await db.wal.subscribe(
      { public: 'thrown' },
      () => {
        n += 1
        if (n === 1) return fail(why)
      },
      { onError: (error) => errors.push(error) },
    )
    /** @type {Commit[]} */
    const others = []
    const other = await db.wal.subscribe({ public: 'thrown' }, (commit) => others.push(commit))
    await db.query('insert into thrown values (1)')
    await db.query('delete from thrown')
    await Promise.all([sub.abort(), other.abort()])
    assert.deepEqual(errors, [kind === 'throws nothing' ? undefined : why])
    assert.equal(n, 2)
    assert.equal(others.length, 2)
  }
})

test('an error listener that throws harms nobody', async () => {
  await db.exec('create table worse (id int primary key)')
  let n = 0
  /** @type {unknown[]} */
  const reports = []
  const mine = new PGliteClient(pglite, { onError: (error) => reports.push(error) })
  const sub = await mine.wal.subscribe({ public: 'worse' }, () => {
    n += 1
    throw new Error('first')
  })
  sub.on('error', () => {
    throw new Error('second')
  })
  await db.query('insert into worse values (1)')
  await db.query('insert into worse values (2)')
  await sub.abort()
  await mine.close()
  assert.equal(n, 2)
  assert.deepEqual(reports.map(String), ['Error: second', 'Error: second'])
})

// C143
test('aborting twice, or from the callback, or after the client was closed, is harmless', async () => {
  await db.exec('create table ended (id int primary key)')
  let n = 0
  const sub = await db.wal.subscribe({ public: 'ended' }, () => {
    n += 1
  })
  await Promise.all([sub.abort(), sub.abort()])
  await sub.abort()
  assert.ok(sub.aborted)
  await db.query('insert into ended values (1)')
  assert.equal(n, 0)

  let calls = 0
  const inside = await db.wal.subscribe({ public: 'ended' }, async () => {
    calls += 1
    const ending = [inside.abort(), inside.abort()]
    assert.ok(inside.aborted)
    await Promise.all(ending)
  })
  await db.query('insert into ended values (2)')
  await db.query('insert into ended values (3)')
  await inside.abort()
  assert.equal(calls, 1)

  // From an asynchronous callback, after its first await.
  const left = signal()
  let later = 0
  const async_ = await db.wal.subscribe({ public: 'ended' }, async () => {
    later += 1
    await db.query('select 1')
    await async_.abort()
    left.resolve()
  })
  await db.query('insert into ended values (4)')
  await left.promise
  await db.query('insert into ended values (5)')
  assert.equal(later, 1)
})

test('an options object and a selector serve any number of subscriptions, and stay as they were', async () => {
  await db.exec('create table shared (id int primary key)')
  const controller = new AbortController()
  /** @type {unknown[]} */
  const errors = []
  const options = {
    since: /** @type {const} */ ('now'),
    signal: controller.signal,
    onError: (/** @type {unknown} */ e) => errors.push(e),
  }
  const selector = { public: ['shared', 'sha%'] }
  const [before, asked] = [{ ...options }, structuredClone(selector)]
  Object.freeze(options)
  Object.freeze(selector)
  /** @type {Commit[][]} */
  const seen = [[], []]
  const subs = await Promise.all(
    seen.map((commits) => db.wal.subscribe(selector, (commit) => commits.push(commit), options)),
  )
  await db.query('insert into shared values (1)')
  await subs[0]?.abort()
  await db.query('insert into shared values (2)')
  controller.abort()
  await subs[1]?.abort()
  assert.deepEqual(
    seen.map((commits) => commits.length),
    [1, 2],
  )
  assert.deepEqual(options, before)
  assert.deepEqual(selector, asked)
  assert.deepEqual(errors, [])
})

test('a commit is frozen all the way down, and one for all its readers', async () => {
  await db.exec('create table frozen (id int primary key, j jsonb, l int[])')
  /** @type {Commit[]} */
  const commits = []
  const subs = await Promise.all(
    [0, 1].map(() => db.wal.subscribe({ public: 'frozen' }, (commit) => commits.push(commit))),
  )
  await db.query(`insert into frozen values (1, '{"a": {"b": [1]}}', '{1,2}')`)
  await Promise.all(subs.map((sub) => sub.abort()))
  const [one, two] = commits
  assert.ok(one)
  assert.equal(one, two)
  const left = /** @type {unknown[]} */ ([one])
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue
    assert.ok(Object.isFrozen(value))
    left.push(...Object.values(value))
  }
})

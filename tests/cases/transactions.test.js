// One transaction is one commit, in the order of commits; what did not commit is silent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, told } from './support.js'

/** @import { Commit } from 'millstream' */

const { pglite, db, check, commitsOf } = await open()

// C043
test('a reader that goes on after the last commit it saw misses none that was open then', async () => {
  await db.exec('create table a (id int primary key); create table b (id int primary key)')
  /** @type {Commit[]} */
  const first = []
  const early = await db.wal.subscribe('*', (commit) => first.push(commit))
  const tx = await db.begin()
  await tx.query('insert into a values (1)')
  const waiting = [db.query('insert into b values (1)'), pglite.query('insert into b values (2)')]
  await tx.query('insert into a values (2)')
  await tx.commit()
  await Promise.all(waiting)
  await early.abort()
  assert.deepEqual(
    first.map(({ entries }) => entries.map(told)),
    [
      [
        ['insert', 'a', { id: 1 }],
        ['insert', 'a', { id: 2 }],
      ],
      ...first.slice(1).map(({ entries }) => entries.map(told)),
    ],
  )
  assert.equal(first[0]?.txId, tx.id)
  for (const [index, { seq }] of first.entries()) {
    /** @type {Commit[]} */
    const rest = []
    const late = await db.wal.subscribe('*', (commit) => rest.push(commit), { since: seq })
    await late.abort()
    assert.deepEqual(rest, first.slice(index + 1))
  }
})

test('a number that a rolled back transaction had is given to the next', async () => {
  await db.exec('create table dense (id int primary key)')
  const commits = await commitsOf({ public: 'dense' }, async () => {
    await db.query('insert into dense values (1)')
    await db.exec('begin; insert into dense values (2), (3), (4); rollback;')
    await assert.rejects(db.query('insert into dense values (5), (1)'))
    await db.query('insert into dense values (6), (7)')
  })
  const [one, two] = commits.map(({ seq }) => seq)
  assert.equal(two, Number(one) + 2)
})

// C044
const rolledBack = (/** @type {string} */ table) => [
  `insert into ${table} select g, 'kept' from generate_series(1, 1500) g`,
  'savepoint middle',
  `insert into ${table} select g, 'gone' from generate_series(1501, 3000) g`,
  'rollback to savepoint middle',
  `insert into ${table} values (3001, 'last'), (3002, 'last')`,
]
const ways = /** @type {Record<string, (statements: string[]) => Promise<unknown>>} */ ({
  'a script': (statements) => db.exec(`begin; ${statements.join('; ')}; commit;`),
  'a transaction body': (statements) =>
    db.transaction(async (tx) => {
      for (const statement of statements) await tx.query(statement)
    }),
  'a script past our client': (statements) =>
    pglite.exec(`begin; ${statements.join('; ')}; commit;`),
  'a transaction past our client': (statements) =>
    pglite.transaction(async (tx) => {
      for (const statement of statements) await tx.query(statement)
    }),
})
for (const [index, [name, run]] of Object.entries(ways).entries()) {
  test(`a savepoint rolled back takes its own rows and no others: by ${name}`, async () => {
    const table = `large_${index}`
    await db.exec(`create table ${table} (id int primary key, t text)`)
    const [commit, ...more] = await commitsOf({ public: table }, () => run(rolledBack(table)))
    assert.deepEqual(more, [])
    const rows = commit?.entries.map((entry) => 'new' in entry && [entry.new.id, entry.new.t])
    const kept = Array.from({ length: 1500 }, (_, row) => [row + 1, 'kept'])
    assert.deepEqual(rows, [...kept, [3001, 'last'], [3002, 'last']])
  })
}

test('savepoints within savepoints, released and rolled back, leave what the table holds', async () => {
  await db.exec('create table nested (id int primary key, n int default 0)')
  const work = `begin;
    insert into nested values (1);
    savepoint a; insert into nested values (2);
    savepoint b; update nested set n = 1; insert into nested values (3);
    release b; savepoint b; delete from nested; rollback to b;
    update nested set n = n + 1 where id = 3;
    rollback to a; insert into nested values (4); release a;
    commit;`
  await check({ public: 'nested' }, work, [
    [
      ['insert', 'nested', { id: 1, n: 0 }],
      ['insert', 'nested', { id: 4, n: 0 }],
    ],
  ])
})

test('a block that catches its exception keeps what was done outside it', async () => {
  await db.exec('create table caught (id int primary key)')
  const work = `do $$ begin
    insert into caught values (1);
    begin
      insert into caught values (2), (1);
    exception when unique_violation then
      insert into caught values (3);
    end;
  end $$`
  await check({ public: 'caught' }, work, [
    [
      ['insert', 'caught', { id: 1 }],
      ['insert', 'caught', { id: 3 }],
    ],
  ])
})

// C048
test('a large transaction reaches a slow reader whole and in order, and holds up no other reader', async () => {
  await db.exec(
    'create table bulk (id int primary key, t text); create table small (id int primary key)',
  )
  const n = 20_000
  /** @type {Commit[]} */
  const slow = []
  /** @type {() => void} */
  let release = () => undefined
  const held = new Promise((resolve) => {
    release = () => resolve(null)
  })
  /** @type {(commit: Commit) => void} */
  let arrive = () => undefined
  const small = new Promise((resolve) => {
    arrive = resolve
  })
  const slowSub = await db.wal.subscribe({ public: ['bulk', 'small'] }, async (commit) => {
    slow.push(commit)
    await held
  })
  const quickSub = await db.wal.subscribe({ public: 'small' }, (commit) => arrive(commit))
  await db.query(`insert into bulk select g, 'row ' || g from generate_series(1, ${n}) g`)
  await db.query('insert into small values (1)')
  await small
  release()
  await Promise.all([slowSub.abort(), quickSub.abort()])
  assert.deepEqual(
    slow.map(({ entries }) => entries.length),
    [n, 1],
  )
  assert.ok(slow[0]?.entries.every((entry, at) => 'new' in entry && entry.new.id === at + 1))
  assert.ok(!('part' in /** @type {Commit} */ (slow[0])))
})

test('a transaction beyond 8 MiB comes in parts that add up to it', async () => {
  await db.exec('create table heavy (id int primary key, t text)')
  const commits = await commitsOf({ public: 'heavy' }, async () => {
    await db.query(
      'insert into heavy select g, repeat(chr(96 + g), 1000000) from generate_series(1, 20) g',
    )
    await db.query("insert into heavy values (21, 'small')")
  })
  const parts = commits.slice(0, -1)
  assert.ok(parts.length > 1)
  assert.deepEqual(
    parts.map(({ part }) => part),
    parts.map((_, index) => index + 1),
  )
  assert.deepEqual(
    parts.map(({ partial }) => partial),
    [...parts.slice(1).map(() => true), undefined],
  )
  assert.equal(new Set(parts.map(({ txId }) => txId)).size, 1)
  const rows = parts.flatMap(({ entries }) => entries.map((entry) => 'new' in entry && entry.new))
  assert.deepEqual(
    rows,
    Array.from({ length: 20 }, (_, at) => ({
      id: at + 1,
      t: String.fromCharCode(97 + at).repeat(1_000_000),
    })),
  )
  const last = commits.at(-1)
  assert.deepEqual(last?.entries.map(told), [['insert', 'heavy', { id: 21, t: 'small' }]])
  assert.ok(last && !('part' in last) && !('partial' in last))
})

// C050
test('nothing is told of what was rolled back, however that came about', async () => {
  await db.exec(`
    create table rolled (id int primary key check (id > 0));
    create table owner (id int primary key);
    create table owned (id int primary key, owner int references owner deferrable initially deferred);
    insert into rolled values (1);`)
  await check('*', async () => {
    await db.exec('begin; insert into rolled values (2); rollback;')
    await assert.rejects(db.query('insert into rolled values (3), (0)'))
    await assert.rejects(db.query('insert into rolled values (4); insert into rolled values (1)'))
    await assert.rejects(
      db.transaction(async (tx) => {
        await tx.query('insert into rolled values (5)')
        throw new Error('the application changed its mind')
      }),
      /changed its mind/,
    )
    await db.transaction(async (tx) => {
      await tx.query('insert into rolled values (6)')
      await tx.rollback()
    })
    await assert.rejects(
      pglite.transaction(async (tx) => {
        await tx.query('insert into rolled values (7)')
        throw new Error('so did this one')
      }),
    )
    // Deferred, so that only the commit fails.
    await assert.rejects(db.query('insert into owned values (1, 1)'), { code: '23503' })
    await assert.rejects(db.query('insert into owned values ($1, $2)', [1, 1]), { code: '23503' })
    await assert.rejects(db.exec('begin; insert into owned values (1, 1); commit;'), {
      code: '23503',
    })
    const tx = await db.begin()
    await tx.query('insert into owned values (1, 1); insert into rolled values (8)')
    await assert.rejects(tx.commit(), { code: '23503' })
    assert.ok(tx.ended)
    await assert.rejects(
      db.transaction((body) => body.query('insert into owned values (1, 1)')),
      { code: '23503' },
    )
    await db.exec('begin; insert into owned values (1, 1); insert into owner values (1); commit;')
  }, [
    [
      ['insert', 'owned', { id: 1, owner: 1 }],
      ['insert', 'owner', { id: 1 }],
    ],
  ])
  const { rows } = await db.query('select id from rolled')
  assert.deepEqual(rows, [{ id: 1 }])
})

test('nothing is told before its commit, however long its transaction is open', async () => {
  await db.exec('create table patient (id int primary key)')
  let n = 0
  const sub = await db.wal.subscribe({ public: 'patient' }, () => {
    n += 1
  })
  // Past our client, so that reading is not kept back by our own lock.
  await pglite.exec('begin')
  await pglite.exec('insert into patient values (1)')
  // Whoever begins now wants a reading, and waits for the answer; each query is in line behind one.
  const beginning = db.wal.subscribe('*', () => undefined)
  for (let turn = 0; turn < 5; turn++) await db.query('select 1')
  assert.equal(n, 0)
  await pglite.exec('commit')
  await sub.abort()
  assert.equal(n, 1)
  await (await beginning).abort()
})

test('a trigger that runs at the commit belongs to the transaction, and fails it whole', async () => {
  await db.exec(`
    create table late (id int primary key, n int default 0);
    create function late() returns trigger language plpgsql as $$ begin
      if new.id = 13 then raise exception 'thirteen'; end if;
      update late set n = n + 1 where id = new.id and n = 0;
      return null;
    end $$;
    create constraint trigger late after insert on late deferrable initially deferred
      for each row execute function late();`)
  await check({ public: 'late' }, async () => {
    await db.query('insert into late values (1)')
    await assert.rejects(db.transaction((tx) => tx.query('insert into late values (2), (13)')))
  }, [
    [
      ['insert', 'late', { id: 1, n: 0 }],
      ['update', 'late', { id: 1, n: 0 }, { id: 1, n: 1 }],
    ],
  ])
})

for (const [outcome, script, refusal] of /** @type {const} */ ([
  ['commits', 'begin; insert into crowd values (1); commit;', null],
  ['fails', 'begin; insert into crowd values (2), (2); commit;', { code: '23505' }],
  ['is left open', 'begin; insert into crowd values (3);', { code: 'transaction_left_open' }],
])) {
  test(`a script that ${outcome} and a transaction past our client do not disturb each other`, async () => {
    await db.exec('drop table if exists crowd; create table crowd (id int primary key)')
    /** @type {Promise<unknown>[]} */
    const writing = []
    const commits = await commitsOf({ public: 'crowd' }, async () => {
      // Both are in line behind this one, so that the second begins at the very end of the first.
      await pglite.transaction(async (tx) => {
        const scripted = db.exec(script)
        writing.push(refusal ? assert.rejects(scripted, refusal) : scripted)
        for (let turn = 0; turn < 5; turn++) await tx.query('select 1')
        writing.push(
          pglite.transaction(async (past) => {
            for (let turn = 0; turn < 5; turn++) await past.query('select 1')
            await past.query('insert into crowd values (10)')
          }),
        )
      })
      const outcomes = await Promise.allSettled(writing)
      for (const it of outcomes) if (it.status === 'rejected') throw it.reason
    })
    const ids = commits.map(({ entries }) => entries.map((entry) => 'new' in entry && entry.new.id))
    assert.deepEqual(ids, outcome === 'commits' ? [[1], [10]] : [[10]])
  })
}

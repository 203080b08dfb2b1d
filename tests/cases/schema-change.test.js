// A definition that changes while readers look on.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './support.js'

const { db, pglite, check, commitsOf } = await open()

// C037
test('each entry has the columns that were in force when its row changed', async () => {
  await db.exec('create table t (a int primary key, b text)')
  const work = async () => {
    await db.query("insert into t values (1, 'b')")
    await db.query('alter table t add c int not null default 7')
    await db.query("insert into t values (2, 'b')")
    await db.query('alter table t drop b')
    await db.query('insert into t values (3, 8)')
    await db.query('alter table t rename c to d')
    await db.query('update t set d = d + 1')
    await db.query('alter table t alter d type text')
    await db.query('delete from t where a < 3')
  }
  await check({ public: 't' }, work, [
    [['insert', 't', { a: 1, b: 'b' }]],
    [['insert', 't', { a: 2, b: 'b', c: 7 }]],
    [['insert', 't', { a: 3, c: 8 }]],
    [
      ['update', 't', { a: 1, d: 7 }, { a: 1, d: 8 }],
      ['update', 't', { a: 2, d: 7 }, { a: 2, d: 8 }],
      ['update', 't', { a: 3, d: 8 }, { a: 3, d: 9 }],
    ],
    [
      ['delete', 't', { a: 1, d: '8' }],
      ['delete', 't', { a: 2, d: '8' }],
    ],
  ])
})

test('definitions may change in the middle of a transaction, by our client or past it', async () => {
  for (const [name, run] of /** @type {const} */ ([
    ['ours', (/** @type {string} */ sql) => db.exec(sql)],
    ['past', (/** @type {string} */ sql) => pglite.exec(sql)],
  ])) {
    await db.exec(`create table ${name} (a int primary key, b text)`)
    const work = () =>
      run(`begin;
        insert into ${name} values (1, 'x');
        alter table ${name} add c bigint default 9007199254740993;
        insert into ${name} values (2, 'y', null);
        alter table ${name} drop b;
        update ${name} set c = 5;
        alter table ${name} add b int;
        insert into ${name} values (3, 6, 7);
        commit;`)
    await check({ public: name }, work, [
      [
        ['insert', name, { a: 1, b: 'x' }],
        ['insert', name, { a: 2, b: 'y', c: null }],
        ['update', name, { a: 1, c: 9007199254740993n }, { a: 1, c: 5 }],
        ['update', name, { a: 2, c: null }, { a: 2, c: 5 }],
        ['insert', name, { a: 3, c: 6, b: 7 }],
      ],
    ])
  }
})

test('a change of a definition that is rolled back leaves no trace', async () => {
  await db.exec('create table undone (a int primary key, b text)')
  const work = async () => {
    await db.exec('begin; alter table undone drop b; insert into undone values (1); rollback;')
    await db.query("insert into undone values (2, 'b')")
    await db.transaction(async (tx) => {
      await tx.exec(
        'savepoint s; alter table undone add c int; insert into undone values (3, null, 1)',
      )
      await tx.exec("rollback to s; insert into undone values (4, 'b')")
    })
  }
  await check({ public: 'undone' }, work, [
    [['insert', 'undone', { a: 2, b: 'b' }]],
    [['insert', 'undone', { a: 4, b: 'b' }]],
  ])
})

test('entries are told under the name their table had, before and after it was renamed', async () => {
  await db.exec('create table was (a int primary key); create schema moved')
  const work = async () => {
    await db.query('insert into was values (1)')
    await db.query('alter table was rename to is_now')
    await db.query('insert into is_now values (2)')
    await db.query('alter table is_now set schema moved')
    await db.query('insert into moved.is_now values (3)')
    await db.query('drop table moved.is_now')
    await db.query('create table was (b text)')
    await db.query("insert into was values ('anew')")
  }
  const commits = await commitsOf('*', work)
  const seen = commits.flatMap(({ entries }) =>
    entries.map((entry) => [
      `${entry.relation.namespace}.${entry.relation.name}`,
      entry.relation.keyColumns,
      'new' in entry && entry.new,
    ]),
  )
  assert.deepEqual(seen, [
    ['public.was', ['a'], { a: 1 }],
    ['public.is_now', ['a'], { a: 2 }],
    ['moved.is_now', ['a'], { a: 3 }],
    ['public.was', [], { b: 'anew' }],
  ])
})

test('what was written before a column was dropped is read as it was, by whoever comes later', async () => {
  await db.exec('create table history (a int primary key, b text)')
  const [first] = await commitsOf({ public: 'history' }, "insert into history values (1, 'b')")
  await db.exec(
    'alter table history drop b; alter table history add c int; insert into history values (2, 3)',
  )
  /** @type {unknown[]} */
  const rows = []
  const sub = await db.wal.subscribe(
    { public: 'history' },
    ({ entries }) => rows.push(...entries.map((entry) => 'new' in entry && entry.new)),
    { since: Number(first?.seq) - 1 },
  )
  await sub.abort()
  assert.deepEqual(rows, [
    { a: 1, b: 'b' },
    { a: 2, c: 3 },
  ])
})

test('tables made after subscribing are seen from their first row on', async () => {
  const work = async () => {
    await db.query('create table made (id int primary key); insert into made values (1)')
    await db.query('create table filled as select id + 1 as id from made')
    await db.query('select 3 as id into chosen')
    await db.query('create temp table scratch (id int); insert into scratch values (1)')
  }
  await check('*', work, [
    [['insert', 'made', { id: 1 }]],
    [['insert', 'filled', { id: 2 }]],
    [['insert', 'chosen', { id: 3 }]],
  ])
})

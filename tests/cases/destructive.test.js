// What empties a table says so, to everyone it concerns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './support.js'

const { db, check, commitsOf } = await open()

// C024
test('a truncate is an entry, and what follows it comes once, now and after subscribing again', async () => {
  await db.exec('create table t (id int primary key); insert into t values (1), (2)')
  const [truncated, inserted] = await check({ public: 't' }, async () => {
    await db.query('truncate t')
    await db.query('insert into t values (3)')
  }, [[['truncate', 't']], [['insert', 't', { id: 3 }]]])
  const again = /** @type {import('millstream').Commit[]} */ ([])
  const sub = await db.wal.subscribe({ public: 't' }, (commit) => again.push(commit), {
    since: Number(truncated?.seq) - 1,
  })
  await sub.abort()
  assert.deepEqual(again, [truncated, inserted])
})

test('a truncate between other changes of its transaction keeps its place', async () => {
  await db.exec('create table between (id int primary key); insert into between values (1)')
  const work = `
    insert into between values (2);
    truncate between;
    insert into between values (2);
    truncate between;`
  const row = { id: 2 }
  await check({ public: 'between' }, work, [
    [
      ['insert', 'between', row],
      ['truncate', 'between'],
      ['insert', 'between', row],
      ['truncate', 'between'],
    ],
  ])
})

test('a truncate of an empty table is told too, and one that is rolled back is not', async () => {
  await db.exec('create table hollow (id int primary key)')
  await check({ public: 'hollow' }, async () => {
    await db.query('truncate hollow')
    await db.exec('begin; truncate hollow; rollback;')
  }, [[['truncate', 'hollow']]])
})

// C025
test('a truncate that cascades is told to the readers of every table it empties', async () => {
  await db.exec(`
    create table par (id int primary key);
    create table chi (id serial primary key, par int references par on delete cascade);
    create table grandchi (id int primary key, chi int references chi);`)
  const tables = ['par', 'chi', 'grandchi']
  for (const [asked, emptied] of [
    [['chi'], ['chi']],
    [['par'], ['par']],
    [
      ['grandchi', 'par'],
      ['grandchi', 'par'],
    ],
    [tables, tables],
  ]) {
    await db.exec(`
      insert into par values (1), (2); insert into chi (par) values (1), (1), (2);
      insert into grandchi select 7, min(id) from chi;`)
    const work = 'truncate par restart identity cascade'
    const [commit, ...more] = await commitsOf({ public: asked }, work)
    assert.deepEqual(more, [])
    const entries = commit?.entries.map(({ op, relation }) => `${op} ${relation.name}`).sort()
    assert.deepEqual(entries, emptied.map((name) => `truncate ${name}`).sort())
  }
})

test('a delete without a condition tells every row, and so does one that cascades', async () => {
  await db.exec(`
    create table owner (id int primary key);
    create table owned (id int primary key, owner int references owner on delete cascade);
    insert into owner values (1), (2);
    insert into owned values (10, 1), (11, 1), (20, 2);`)
  const [commit] = await commitsOf({ public: ['owner', 'owned'] }, 'delete from owner')
  const gone = commit?.entries.map((entry) => {
    assert.ok(entry.op === 'delete')
    return `${entry.relation.name} ${entry.old.id}`
  })
  assert.deepEqual(gone?.sort(), ['owned 10', 'owned 11', 'owned 20', 'owner 1', 'owner 2'])
})

// C029
test('a partition that is truncated, detached, attached or dropped changes what its root holds', async () => {
  await db.exec(`
    create table ev (id int, region text, primary key (id, region)) partition by list (region);
    create table ev_us partition of ev for values in ('us');
    create table ev_eu partition of ev for values in ('eu');
    insert into ev values (1, 'us'), (2, 'us'), (3, 'eu');`)
  const us = (/** @type {number} */ id) => ({ id, region: 'us' })
  const eu = { id: 3, region: 'eu' }

  await check({ public: 'ev' }, 'truncate ev_us', [
    [
      ['delete', 'ev', us(1)],
      ['delete', 'ev', us(2)],
    ],
  ])
  await db.exec("insert into ev values (4, 'us')")
  await check({ public: 'ev' }, 'alter table ev detach partition ev_us', [
    [['delete', 'ev', us(4)]],
  ])
  await check({ public: 'ev' }, "insert into ev_us values (5, 'us')", [])
  await check({ public: 'ev' }, "alter table ev attach partition ev_us for values in ('us')", [
    [
      ['insert', 'ev', us(4)],
      ['insert', 'ev', us(5)],
    ],
  ])
  // The rows of a dropped one can no longer be read: the root is emptied, and filled with what is left.
  await check({ public: 'ev' }, 'drop table ev_us', [
    [
      ['truncate', 'ev'],
      ['insert', 'ev', eu],
    ],
  ])
  await check({ public: 'ev' }, 'truncate ev', [[['truncate', 'ev']]])
})

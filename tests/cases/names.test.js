// Which relations a selector means, and the names their entries carry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './support.js'

/** @import { Selector } from 'millstream' */

const { db, check, commitsOf } = await open()

/**
 * @param {unknown} selector
 * @param {{ code: string, message?: RegExp }} refusal
 */
function refuses(selector, refusal) {
  return assert.rejects(
    db.wal.subscribe(/** @type {Selector} */ (selector), () => undefined),
    {
      name: 'MillstreamError',
      ...refusal,
    },
  )
}

// Cases 1 and 2, C144
test('what is no selector is refused with bad_selector, which says where', async () => {
  const public_ = (/** @type {unknown} */ tables) => ({ public: tables })
  for (const selector of [
    null,
    {},
    42,
    0,
    '',
    [],
    true,
    'users',
    'public.users',
    public_(''),
    public_([]),
    public_(null),
    public_(1),
    public_(['users', '']),
    public_(['users', 1]),
    public_({ name: 'users' }),
    public_('!'),
    { '': 'users' },
    { '!': 'users' },
  ]) {
    await refuses(selector, { code: 'bad_selector' })
  }
  for (const [selector, index] of /** @type {[unknown[], number][]} */ ([
    [[{ namespace: 'b' }, { a: 'b' }], 1],
    [[{}], 0],
    [[null], 0],
    [['users'], 0],
    [[{ namespace: 'b' }, { namespace: 'b' }, { namespace: 'b', name: 5 }], 2],
    [[{ namespace: 'b', name: [] }], 0],
    [[{ namespace: 'b' }, { namespace: 'b', name: 'c', more: 1 }], 1],
    [[{ namespace: 'b' }, { namespace: 7, name: 'c' }], 1],
    [[{ namespace: 'b' }, []], 1],
  ])) {
    await refuses(selector, { code: 'bad_selector', message: new RegExp(`\\bindex ${index}\\b`) })
  }
  await refuses([{ namespace: 'public', name: '' }], { code: 'bad_selector' })
})

// Case 3
test('all forms of a selector mean the relations they name', async () => {
  await db.exec(`
    create schema form; create schema other;
    create table form.a (id int); create table form.b (id int); create table other.a (id int);`)
  const work = `insert into form.a values (1); insert into form.b values (1); insert into other.a values (1)`
  for (const [selector, matched] of /** @type {[Selector | undefined, string[]][]} */ ([
    [undefined, ['form.a', 'form.b', 'other.a']],
    ['*', ['form.a', 'form.b', 'other.a']],
    [{ form: '*' }, ['form.a', 'form.b']],
    [{ form: ['*'] }, ['form.a', 'form.b']],
    [{ form: 'a' }, ['form.a']],
    [{ form: ['a', 'b', 'a'] }, ['form.a', 'form.b']],
    [{ '*': ['a'] }, ['form.a', 'other.a']],
    [{ form: 'b', other: 'a' }, ['form.b', 'other.a']],
    [[{ namespace: 'form' }], ['form.a', 'form.b']],
    [[{ namespace: 'form', name: 'a' }], ['form.a']],
    [
      [
        { namespace: 'form', name: ['b'] },
        { namespace: 'other', name: 'a' },
      ],
      ['form.b', 'other.a'],
    ],
    [
      [
        { namespace: 'form', name: 'a' },
        { namespace: 'form', name: 'b' },
      ],
      ['form.a', 'form.b'],
    ],
  ])) {
    const [commit] = await commitsOf(/** @type {Selector} */ (selector), work)
    const names = commit?.entries.map(({ relation }) => `${relation.namespace}.${relation.name}`)
    assert.deepEqual(names, matched, JSON.stringify(selector))
  }
})

// C031
test('a partitioned table is one relation under its own name, whichever partition a row is in', async () => {
  await db.exec(`
    create schema leaf;
    create table ev (id int, region text, v int, primary key (id, region)) partition by list (region);
    create table leaf.ev_us partition of ev for values in ('us');
    create table ev_rest partition of ev default partition by range (id);
    create table ev_low partition of ev_rest for values from (0) to (100);`)
  const row = (/** @type {number} */ id, /** @type {string} */ region, v = 0) => ({ id, region, v })
  const work = async () => {
    await db.query("insert into ev values (1, 'us', 0), (2, 'eu', 0)")
    await db.query("update ev set region = 'eu' where id = 1")
    await db.query("update leaf.ev_us set v = 1; insert into leaf.ev_us values (3, 'us', 0)")
    await db.query('create table ev_high partition of ev_rest for values from (100) to (200)')
    await db.query("insert into ev values (100, 'fr', 0)")
    await db.query('update ev set id = 101 where id = 100')
  }
  const commits = await check({ public: ['ev'] }, work, [
    [
      ['insert', 'ev', row(1, 'us')],
      ['insert', 'ev', row(2, 'eu')],
    ],
    // A move is a delete and an insert in one commit, as PostgreSQL makes it.
    [
      ['delete', 'ev', row(1, 'us')],
      ['insert', 'ev', row(1, 'eu')],
    ],
    [['insert', 'ev', row(3, 'us')]],
    [['insert', 'ev', row(100, 'fr')]],
    [['update', 'ev', row(100, 'fr'), row(101, 'fr')]],
  ])
  for (const { entries } of commits) {
    for (const { relation } of entries) {
      assert.deepEqual(relation, { namespace: 'public', name: 'ev', keyColumns: ['id', 'region'] })
    }
  }
})

test('a partition is no relation of its own, so naming one is refused', async () => {
  await db.exec(`
    create table root (id int) partition by list (id);
    create table root_1 partition of root for values in (1);`)
  await refuses({ public: 'root_1' }, { code: 'relation_not_found' })
})

// C033
test('a materialized view is refused by name, and its refresh disturbs nobody', async () => {
  await db.exec(`
    create table base (id int primary key);
    create materialized view mv as select count(*) from base;
    create unique index on mv (count);`)
  await refuses({ public: ['mv'] }, { code: 'relation_not_found', message: /\bmv\b/ })
  await refuses({ public: ['base', 'mv'] }, { code: 'relation_not_found', message: /\bmv\b/ })
  const work = `
    insert into base values (1);
    refresh materialized view mv;`
  await check('*', work, [[['insert', 'base', { id: 1 }]]])
  await check('*', 'refresh materialized view concurrently mv', [])
})

test('a write through a view is told as one of the table beneath', async () => {
  await db.exec(`
    create table beneath (id int primary key, hidden int default 5);
    create view above as select id from beneath;`)
  await check('*', 'insert into above values (1)', [[['insert', 'beneath', { id: 1, hidden: 5 }]]])
})

// C035
test('names are taken as they are, and one that differs in case is another', async () => {
  const table =
    'create table "Test" ("Id" int primary key, "select" text, "a.b" int, "Ünïcödé ""q""" int)'
  await db.exec(table)
  const row = { Id: 1, select: 'x', 'a.b': 2, 'Ünïcödé "q"': 3 }
  const work = `insert into "Test" values (1, 'x', 2, 3); update "Test" set "Id" = 4`
  await check({ public: ['Test'] }, work, [
    [
      ['insert', 'Test', row],
      ['update', 'Test', row, { ...row, Id: 4 }],
    ],
  ])
  await refuses({ public: ['test'] }, { code: 'relation_not_found', message: /Test/ })
  await refuses({ Public: ['Test'] }, { code: 'relation_not_found' })
  await refuses({ public: ['"Test"'] }, { code: 'relation_not_found' })
})

test('any name that PostgreSQL takes can be subscribed to', async () => {
  const long = 'x'.repeat(63)
  for (const name of [
    'two words',
    'a.b',
    'order',
    'quo"te',
    "apo'strophe",
    'back\\slash',
    'ß',
    '表',
    '😀',
    '$1',
    '__proto__',
    'constructor',
    '_',
    long,
  ]) {
    const quoted = `"${name.replaceAll('"', '""')}"`
    await db.exec(`create table ${quoted} (id int primary key)`)
    const selector = [{ namespace: 'public', name }]
    await check(selector, `insert into ${quoted} values (1)`, [[['insert', name, { id: 1 }]]])
  }
})

test('a name that holds an underscore is not a pattern', async () => {
  await db.exec('create table user_id (id int); create table userXid (id int)')
  const work = 'insert into user_id values (1); insert into userXid values (1)'
  await check({ public: 'user_id' }, work, [[['insert', 'user_id', { id: 1 }]]])
})

test("a schema of any name is a namespace, and the engine's own and the system's are not", async () => {
  await db.exec('create schema "My Schema"; create table "My Schema".t (id int)')
  await check({ 'My Schema': 't' }, 'insert into "My Schema".t values (1)', [
    [['insert', 't', { id: 1 }]],
  ])
  await refuses({ millstream: 'log' }, { code: 'relation_not_found' })
  await refuses({ pg_catalog: 'pg_class' }, { code: 'relation_not_found' })
})

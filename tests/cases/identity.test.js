// Which row an entry is about, whatever identifies the rows of its table.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './support.js'

const { db, check, commitsOf } = await open()

// C018
test('an update of the key tells the old key and the new one', async () => {
  await db.exec('create table doc (id int primary key, t text)')
  const work = `
    insert into doc values (1, 'a'), (3, 'c');
    update doc set id = 2 where id = 1;`
  await check({ public: 'doc' }, work, [
    [
      ['insert', 'doc', { id: 1, t: 'a' }],
      ['insert', 'doc', { id: 3, t: 'c' }],
      ['update', 'doc', { id: 1, t: 'a' }, { id: 2, t: 'a' }],
    ],
  ])
})

test('a swap of two keys through a third is three updates in their order', async () => {
  await db.exec(`
    create table swap (a int, b text, primary key (b, a));
    insert into swap values (1, 'x'), (2, 'x');`)
  const work = `
    update swap set a = -1 where a = 1;
    update swap set a = 1 where a = 2;
    update swap set a = 2 where a = -1;`
  const row = (/** @type {number} */ a) => ({ a, b: 'x' })
  const [commit] = await check({ public: 'swap' }, work, [
    [
      ['update', 'swap', row(1), row(-1)],
      ['update', 'swap', row(2), row(1)],
      ['update', 'swap', row(-1), row(2)],
    ],
  ])
  assert.deepEqual(commit?.entries[0]?.relation.keyColumns, ['b', 'a'])
})

test('keys that swap in one statement are told each with the row they had', async () => {
  await db.exec(`
    create table ranks (id int primary key deferrable, who text);
    insert into ranks values (1, 'ada'), (2, 'bea');`)
  await check({ public: 'ranks' }, 'update ranks set id = 3 - id', [
    [
      ['update', 'ranks', { id: 1, who: 'ada' }, { id: 2, who: 'ada' }],
      ['update', 'ranks', { id: 2, who: 'bea' }, { id: 1, who: 'bea' }],
    ],
  ])
})

// C019
for (const [name, definition, key] of /** @type {const} */ ([
  ['full', 'alter table full_id replica identity full', ['id']],
  ['indexed', 'alter table indexed_id replica identity using index indexed_id_unique', ['id']],
  ['silent', 'alter table silent_id replica identity nothing', ['id']],
  ['keyless', 'alter table keyless_id drop constraint keyless_id_pkey', []],
  [
    'other',
    `alter table other_id drop constraint other_id_pkey;
     alter table other_id add primary key (note, tenant)`,
    ['note', 'tenant'],
  ],
])) {
  test(`keyColumns is the primary key and nothing else: ${definition.split('\n')[0]}`, async () => {
    const table = `${name}_id`
    await db.exec(`
      create table ${table} (id int primary key, tenant int not null, note text not null);
      create unique index ${table}_unique on ${table} (tenant, note);
      ${definition};`)
    const work = `
      insert into ${table} values (1, 2, 'c');
      update ${table} set tenant = 3;
      delete from ${table};`
    const [was, is] = [
      { id: 1, tenant: 2, note: 'c' },
      { id: 1, tenant: 3, note: 'c' },
    ]
    if (name === 'keyless' || name === 'silent')
      await db.exec(`alter table ${table} replica identity full`)
    const [commit] = await check({ public: table }, work, [
      [
        ['insert', table, was],
        ['update', table, was, is],
        ['delete', table, is],
      ],
    ])
    for (const entry of commit?.entries ?? []) assert.deepEqual(entry.relation.keyColumns, key)
  })
}

test('columns that an index merely includes are no part of the key', async () => {
  await db.exec('create table covered (a int, b int, c text, primary key (b) include (a, c))')
  const [commit] = await commitsOf({ public: 'covered' }, "insert into covered values (1, 2, 'c')")
  assert.deepEqual(commit?.entries[0]?.relation.keyColumns, ['b'])
})

// C022
for (const identity of ['default', 'full']) {
  test(`an update that changes nothing hides no later delete, identity ${identity}`, async () => {
    const name = `same_${identity}`
    await db.exec(`
      create table ${name} (id int primary key, v text, w int[]);
      alter table ${name} replica identity ${identity};`)
    const row = { id: 1, v: 'v', w: [1, null] }
    await check({ public: name }, async () => {
      await db.query(`insert into ${name} values (1, 'v', '{1,null}')`)
      await db.query(`update ${name} set v = v`)
      await db.query(`update ${name} set id = id, w = w`)
      await db.query(`delete from ${name}`)
    }, [
      [['insert', name, row]],
      [['update', name, row, row]],
      [['update', name, row, row]],
      [['delete', name, row]],
    ])
  })
}

// C023
for (const selector of /** @type {const} */ (['*', { public: ['nopk'] }])) {
  test(`a table without a key is written as before under ${JSON.stringify(selector)}`, async () => {
    await db.exec('drop table if exists nopk; create table nopk (a int, b text)')
    const work = `
      insert into nopk values (1, 'x'), (1, 'x');
      update nopk set a = 2;
      delete from nopk where ctid = (select min(ctid) from nopk);
      truncate nopk;`
    await check(selector, work, [
      [
        ['insert', 'nopk', { a: 1, b: 'x' }],
        ['insert', 'nopk', { a: 1, b: 'x' }],
        ['update', 'nopk', { a: 1, b: 'x' }, { a: 2, b: 'x' }],
        ['update', 'nopk', { a: 1, b: 'x' }, { a: 2, b: 'x' }],
        ['delete', 'nopk', { a: 2, b: 'x' }],
        ['truncate', 'nopk'],
      ],
    ])
  })
}

// C162
test('keys that are zero, empty or false are keys like any other', async () => {
  await db.exec(`
    create table zero (uid int primary key, v int);
    create table blank (k text primary key, v int);
    create table bit (k boolean primary key, v int);`)
  const work = `
    insert into zero values (0, 1); update zero set uid = 1; update zero set uid = 0;
    insert into blank values ('', 1); delete from blank;
    insert into bit values (false, 1); update bit set k = true;`
  await check({ public: ['zero', 'blank', 'bit'] }, work, [
    [
      ['insert', 'zero', { uid: 0, v: 1 }],
      ['update', 'zero', { uid: 0, v: 1 }, { uid: 1, v: 1 }],
      ['update', 'zero', { uid: 1, v: 1 }, { uid: 0, v: 1 }],
      ['insert', 'blank', { k: '', v: 1 }],
      ['delete', 'blank', { k: '', v: 1 }],
      ['insert', 'bit', { k: false, v: 1 }],
      ['update', 'bit', { k: false, v: 1 }, { k: true, v: 1 }],
    ],
  ])
})

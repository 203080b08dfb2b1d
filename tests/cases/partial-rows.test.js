// A row is whole, or names the columns that are missing: never null in place of a value.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './support.js'

const { db, check, commitsOf } = await open()

// C011, C013
for (const identity of ['default', 'full', 'nothing']) {
  test(`a value stored out of line is in both images under replica identity ${identity}`, async () => {
    const name = `doc_${identity}`
    const body = 'b'.repeat(9_000)
    await db.exec(`
      create table ${name} (id int primary key, title text, body text, raw bytea);
      alter table ${name} alter column body set storage external, alter column raw set storage external;
      alter table ${name} replica identity ${identity};
      insert into ${name} values (1, 'a', '${body}', decode(repeat('ff00', 4500), 'hex'));`)
    const raw = new Uint8Array(9_000).map((_, index) => (index % 2 === 0 ? 0xff : 0))
    const row = { id: 1, title: 'a', body, raw }
    const work = `
      update ${name} set title = 'b';
      update ${name} set id = 2;
      update ${name} set body = body || '!';
      delete from ${name};`
    await check({ public: name }, work, [
      [
        ['update', name, row, { ...row, title: 'b' }],
        ['update', name, { ...row, title: 'b' }, { ...row, title: 'b', id: 2 }],
        [
          'update',
          name,
          { ...row, title: 'b', id: 2 },
          { ...row, title: 'b', id: 2, body: `${body}!` },
        ],
        ['delete', name, { ...row, title: 'b', id: 2, body: `${body}!` }],
      ],
    ])
  })
}

// C016
test('a stored generated column is in both images', async () => {
  await db.exec(`create table stored (
    id int primary key,
    cm numeric,
    inch numeric generated always as (cm / 2) stored,
    label text generated always as ('no. ' || id) stored
  )`)
  const work = `
    insert into stored values (1, 5);
    update stored set cm = 9;
    delete from stored;`
  const images = [
    { id: 1, cm: '5', inch: '2.5000000000000000', label: 'no. 1' },
    { id: 1, cm: '9', inch: '4.5000000000000000', label: 'no. 1' },
  ]
  const [commit] = await check({ public: 'stored' }, work, [
    [
      ['insert', 'stored', images[0]],
      ['update', 'stored', images[0], images[1]],
      ['delete', 'stored', images[1]],
    ],
  ])
  assert.ok(commit?.entries.every((entry) => !('unchanged' in entry)))
})

test('a virtual generated column is named as not sent, and is absent rather than null', async () => {
  await db.exec(`create table virtual (
    id int primary key,
    twice int generated always as (id * 2) virtual,
    note text,
    shout text generated always as (upper(note)) virtual
  )`)
  const work = `
    insert into virtual (id, note) values (1, 'a');
    update virtual set note = null;
    delete from virtual;`
  const [commit] = await check({ public: 'virtual' }, work, [
    [
      ['insert', 'virtual', { id: 1, note: 'a' }],
      ['update', 'virtual', { id: 1, note: 'a' }, { id: 1, note: null }],
      ['delete', 'virtual', { id: 1, note: null }],
    ],
  ])
  for (const entry of commit?.entries ?? []) assert.deepEqual(entry.unchanged, ['twice', 'shout'])
})

test('a virtual column of a table that others are attached to is not sent either', async () => {
  await db.exec(`
    create table parted (id int, v int, w int generated always as (v + 1) virtual) partition by list (id);
    create table parted_1 (id int, v int, w int generated always as (v + 1) virtual);
    insert into parted_1 values (1, 1);`)
  const attach = 'alter table parted attach partition parted_1 for values in (1)'
  const [commit] = await check({ public: 'parted' }, attach, [
    [['insert', 'parted', { id: 1, v: 1 }]],
  ])
  assert.deepEqual(commit?.entries[0]?.unchanged, ['w'])
})

// Case 18
test('a null column is null in JSON, not missing', async () => {
  await db.exec('create table nulls (id int primary key, a text, b jsonb, c int[])')
  const [commit] = await commitsOf({ public: 'nulls' }, 'insert into nulls (id) values (1)')
  const entry = commit?.entries[0]
  assert.ok(entry?.op === 'insert')
  assert.equal(JSON.stringify(entry.new), '{"id":1,"a":null,"b":null,"c":null}')
})

// Every value reaches the reader as the database holds it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './support.js'

const { pglite, db, check, commitsOf } = await open()

/**
 * Checks what a reader is given of values, in an insert, an update and a delete alike.
 *
 * @param {string} name of the table
 * @param {string} type of the column
 * @param {[literal: string, value: unknown][]} values each as SQL writes it and as the reader gets it
 */
async function checkValues(name, type, values) {
  await db.exec(`create table ${name} (id int primary key, v ${type})`)
  for (const [index, [literal, value]] of values.entries()) {
    const id = index + 1
    const work = `
      insert into ${name} values (${id}, ${literal});
      update ${name} set id = -id where id = ${id};
      delete from ${name} where id = ${-id};`
    const row = { id, v: value }
    const moved = { id: -id, v: value }
    await check({ public: name }, work, [
      [
        ['insert', name, row],
        ['update', name, row, moved],
        ['delete', name, moved],
      ],
    ])
  }
}

// C001
test('integers keep every digit, as numbers where those are exact and as BigInts where not', async () => {
  await checkValues('eights', 'bigint', [
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740991', -9007199254740991],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ["'-9223372036854775808'", -9223372036854775808n],
    ['0', 0],
    ['null', null],
  ])
  await checkValues('fours', 'int', [
    ['2147483647', 2147483647],
    ["'-2147483648'", -2147483648],
  ])
  await checkValues('twos', 'smallint', [["'-32768'", -32768]])
  await checkValues('lists_of_eights', 'bigint[]', [
    ["'{1,9007199254740993,NULL}'", [1, 9007199254740993n, null]],
    [
      "'{{9223372036854775807,0},{-1,2}}'",
      [
        [9223372036854775807n, 0],
        [-1, 2],
      ],
    ],
    ["'{}'", []],
  ])
})

test('a key past 2^53 is told from its neighbours', async () => {
  await db.exec('create table acct (id bigint primary key, bal bigint)')
  const [id, next] = [9007199254740993n, 9007199254740995n]
  const least = -9223372036854775808n
  const work = `
    insert into acct values (9007199254740992, 0), (${id}, ${least});
    update acct set bal = bal + 1 where id = ${id};
    update acct set id = ${next} where id = ${id};
    delete from acct where id = ${next};`
  await check({ public: 'acct' }, work, [
    [
      ['insert', 'acct', { id: 9007199254740992n, bal: 0 }],
      ['insert', 'acct', { id, bal: least }],
      ['update', 'acct', { id, bal: least }, { id, bal: least + 1n }],
      ['update', 'acct', { id, bal: least + 1n }, { id: next, bal: least + 1n }],
      ['delete', 'acct', { id: next, bal: least + 1n }],
    ],
  ])
})

// C004
test('numerics are the text that SELECT prints, with their scale and their NaN', async () => {
  const long = '1012345000999912345001230123445566.00000000'
  await checkValues('numerics', 'numeric', [
    [long, long],
    [`-${long}`, `-${long}`],
    ['0.10', '0.10'],
    ['1e30', '1000000000000000000000000000000'],
    ['7', '7'],
    ["'NaN'", 'NaN'],
    ["'Infinity'", 'Infinity'],
    ["'-Infinity'", '-Infinity'],
    ['null', null],
  ])
  await checkValues('scaled', 'numeric(22,7)', [
    ['1.5', '1.5000000'],
    ["'NaN'", 'NaN'],
  ])
  await checkValues('lists_of_numerics', 'numeric[]', [
    ["'{0.10,NaN,NULL}'", ['0.10', 'NaN', null]],
  ])
})

// C005
test('floats keep their infinities, their NaN and their negative zero', async () => {
  const special = /** @type {[string, unknown][]} */ ([
    ["'Infinity'", 'Infinity'],
    ["'-Infinity'", '-Infinity'],
    ["'NaN'", 'NaN'],
    ["'-0'", -0],
    ['0', 0],
    ['0.1', 0.1],
    ['null', null],
  ])
  await checkValues('reals', 'real', special)
  await checkValues('doubles', 'double precision', [
    ...special,
    ['1e308', 1e308],
    ["'1e-320'", 1e-320],
    ["'5e-324'", 5e-324],
    ['0.1::float8 + 0.2::float8', 0.1 + 0.2],
  ])
  await checkValues('lists_of_doubles', 'float8[]', [
    ["'{NaN,-0,Infinity,NULL,1.5}'", ['NaN', -0, 'Infinity', null, 1.5]],
  ])
})

// C006
test('infinite times are told from each other, from null and from the far future', async () => {
  const infinities = /** @type {[string, unknown][]} */ ([
    ["'infinity'", 'infinity'],
    ["'-infinity'", '-infinity'],
    ['null', null],
  ])
  await checkValues('moments', 'timestamptz', [
    ...infinities,
    ["'2026-01-01 00:00:00.5+00'", '2026-01-01 00:00:00.5+00'],
    ["'294276-12-31 23:59:59.999999+00'", '294276-12-31 23:59:59.999999+00'],
  ])
  await checkValues('stamps', 'timestamp', infinities)
  await checkValues('days', 'date', [...infinities, ["'2024-02-29'", '2024-02-29']])
  await checkValues('lists_of_days', 'date[]', [
    ["'{infinity,-infinity,2024-02-29,NULL}'", ['infinity', '-infinity', '2024-02-29', null]],
  ])
  await checkValues('spans', 'interval', [
    ["'infinity'", 'infinity'],
    ["'1 year 2 mons -3 days 04:05:06.7'", '1 year 2 mons -3 days +04:05:06.7'],
  ])
})

test('times have one text, whatever the settings of the session that writes them', async () => {
  await db.exec(
    'create table timed (id int primary key, at timestamptz, day date, span interval, f float8, b bytea)',
  )
  const insert = (/** @type {number} */ id) =>
    `insert into timed values (${id}, '2026-01-01 00:00:00.5+00', '2026-02-03', '1 day 2 hours', 0.1, '\\xff00')`
  const settings = `
    set timezone = 'Asia/Kathmandu'; set datestyle = 'German'; set intervalstyle = 'sql_standard';
    set extra_float_digits = -10; set bytea_output = 'escape';`
  const commits = await commitsOf({ public: 'timed' }, async () => {
    await db.exec(insert(1))
    await pglite.exec(settings)
    await db.exec(insert(2))
    await pglite.exec('reset all')
  })
  const row = {
    at: '2026-01-01 00:00:00.5+00',
    day: '2026-02-03',
    span: '1 day 02:00:00',
    f: 0.1,
    b: new Uint8Array([0xff, 0]),
  }
  assert.deepEqual(
    commits.map(({ entries }) => entries.map((entry) => 'new' in entry && { ...entry.new })),
    [[{ id: 1, ...row }], [{ id: 2, ...row }]],
  )
})

test('documents keep numbers that JavaScript cannot hold, and SQL null apart from null', async () => {
  await checkValues('documents', 'jsonb', [
    [
      `'{"a": 9007199254740993, "b": [1, null, {"c": "d"}]}'`,
      { a: 9007199254740993n, b: [1, null, { c: 'd' }] },
    ],
    ["'null'", null],
    ["'[]'", []],
    [`'""'`, ''],
    ["'true'", true],
  ])
})

test('a key of a document or a column called __proto__ is data', async () => {
  await db.exec('create table odd (id int primary key, "__proto__" text, "constructor" jsonb)')
  const work = `insert into odd values (1, 'x', '{"__proto__": {"polluted": true}}')`
  const [commit] = await commitsOf({ public: 'odd' }, work)
  const entry = commit?.entries[0]
  assert.ok(entry?.op === 'insert')
  assert.deepEqual(Object.keys(entry.new), ['id', '__proto__', 'constructor'])
  assert.equal(Object.getOwnPropertyDescriptor(entry.new, '__proto__')?.value, 'x')
  assert.deepEqual(JSON.stringify(entry.new.constructor), '{"__proto__":{"polluted":true}}')
  assert.equal(/** @type {any} */ ({}).polluted, undefined)
})

// C144
test('empty stays empty, and is not null', async () => {
  await checkValues('texts', 'text', [
    ["''", ''],
    ["' '", ' '],
    ["E'\\n'", '\n'],
    ["'null'", 'null'],
    ["'NULL'", 'NULL'],
    ['null', null],
    [`'"\\,()''{}'`, `"\\,()'{}`],
    ["U&'\\+01F600é'", '\u{1f600}é'],
  ])
  await checkValues('bytes', 'bytea', [
    ["''", new Uint8Array()],
    ["'\\x00'", new Uint8Array([0])],
    ["'\\xff00fe80'", new Uint8Array([0xff, 0, 0xfe, 0x80])],
    ['null', null],
  ])
  await checkValues('lists_of_texts', 'text[]', [
    ["'{}'", []],
    [`'{"",NULL,"NULL","a,b"}'`, ['', null, 'NULL', 'a,b']],
  ])
  await checkValues('lists_of_bytes', 'bytea[]', [
    [`array['\\x'::bytea, '\\x00ff']`, [new Uint8Array(), new Uint8Array([0, 0xff])]],
  ])
})

test("bytes are the reader's own at each access, and the commit stays as it was", async () => {
  await db.exec('create table blobs (id int primary key, v bytea)')
  const [commit] = await commitsOf({ public: 'blobs' }, "insert into blobs values (1, '\\x0102')")
  const entry = commit?.entries[0]
  assert.ok(entry?.op === 'insert')
  const first = /** @type {Uint8Array} */ (entry.new.v)
  first[0] = 99
  assert.deepEqual(entry.new.v, new Uint8Array([1, 2]))
})

test('types of the application are the text that SELECT prints', async () => {
  await db.exec(`
    create type mood as enum ('sad', 'it''s fine');
    create type place as (x int, y text);
    create domain ratio as numeric check (value >= 0);
    create domain count8 as bigint;`)
  await checkValues('moods', 'mood', [["'it''s fine'", "it's fine"]])
  await checkValues('places', 'place', [['\'(1,"a b")\'', '(1,"a b")']])
  await checkValues('ratios', 'ratio', [['0.50', '0.50']])
  await checkValues('counts', 'count8', [['9007199254740993', 9007199254740993n]])
  await checkValues('ranges', 'int4range', [
    ["'[1,5)'", '[1,5)'],
    ["'empty'", 'empty'],
  ])
  await checkValues('uuids', 'uuid', [
    ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ])
  await checkValues('flags', 'boolean', [
    ['true', true],
    ['false', false],
    ['null', null],
  ])
})

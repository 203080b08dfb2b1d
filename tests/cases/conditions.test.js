// Conditions: what users of `millstream/expr` are promised, by the faults of others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile, MillstreamError } from 'millstream/expr'

const columns = {
  id: 'bigint',
  status: 'text',
  total: 'numeric',
  n: 'integer',
  ratio: 'double precision',
  paid: 'boolean',
  until: 'timestamp with time zone',
  meta: 'jsonb',
  tags: 'text[]',
  raw: 'bytea',
  ['__proto__']: 'text',
  constructor: 'text',
  k: 'text',
}

/**
 * @param {string} code
 * @param {RegExp} message
 */
const refusal = (code, message) => (/** @type {unknown} */ error) => {
  assert.ok(error instanceof MillstreamError)
  assert.equal(error.code, code)
  assert.match(error.message, message)
  return true
}

test('C145: a null is unequal to a text, and so is a column that was not sent', () => {
  const isNoDraft = compile('payload.status != "draft"', columns)
  assert.equal(isNoDraft.matches({ status: null }), true)
  assert.equal(isNoDraft.matches({}), true)
  assert.equal(isNoDraft.matches({ status: 'draft' }), false)
})

test('C145: a delete is judged by the row that was', () => {
  const was = compile('payload.status == "open" && old.status == "open" && new == nil', columns)
  assert.equal(was.matches({ status: 'open' }, { op: 'delete' }), true)
  const became = compile('old?.status != status && op == "update"', columns)
  assert.equal(became.matches({ status: 'open' }, { op: 'update', old: { status: 'draft' } }), true)
  assert.equal(became.matches({ status: 'open' }), false)
})

test('C145: a path through a null fails with its place, and ?. goes around it', () => {
  const strict = compile('payload.meta.a.b == 1', columns)
  assert.equal(strict.matches({ meta: { a: { b: 1 } } }), true)
  assert.throws(
    () => strict.matches({ meta: { a: null } }),
    refusal('expression_failed', /column 16/),
  )
  assert.equal(compile('payload.meta?.a?.b == 1', columns).matches({ meta: null }), false)
})

test('C145: the right side of && may be null, and does not hold then', () => {
  const both = compile('payload.n > 3 && payload.paid', columns)
  assert.equal(both.evaluate({ n: 4, paid: null }), null)
  assert.equal(both.matches({ n: 4, paid: null }), false)
  assert.equal(both.matches({ n: 4, paid: true }), true)
})

test('C147: only columns of its own are visible in a row', () => {
  const row = { ['__proto__']: 'data', constructor: 'built', k: 'prototype', meta: { a: 1 } }
  const on = (/** @type {string} */ source) => compile(source, columns).evaluate(row)
  assert.equal(on('payload.__proto__'), 'data')
  assert.equal(on('payload["constructor"]'), 'built')
  assert.equal(on('payload[payload.k]'), null)
  assert.equal(on('payload["to" + "String"]'), null)
  assert.equal(on('payload.meta["constructor"]'), null)
  assert.equal(on('payload.meta.__proto__'), null)
  assert.throws(() => on('payload.toString'), refusal('bad_expression', /no column toString/))
})

test('C147: a key named __proto__ in a result is a key like others', () => {
  const made = /** @type {any} */ (compile('({"__proto__": 1, "constructor": 2})', {}).evaluate({}))
  assert.deepEqual(Object.keys(made).sort(), ['__proto__', 'constructor'])
  assert.equal(Object.getPrototypeOf(made), Object.prototype)
  const claims = JSON.parse('{"__proto__": {"admin": true}}')
  assert.equal(compile('claims.admin', {}).evaluate({}, { claims }), null)
})

test('C147: sources that are deep, long, or would run forever come to an end', () => {
  for (const source of [
    '('.repeat(100_000),
    `${'('.repeat(20_000)}1${')'.repeat(20_000)}`,
    `1${' + 1'.repeat(250_000)}`,
  ]) {
    assert.throws(
      () => compile(source, columns),
      refusal('bad_expression', /too (long|many|large)/),
    )
  }
  for (const source of ['1..1000000000', 'all(1..100000, all(1..100000, true))']) {
    const filter = compile(source, columns)
    assert.throws(() => filter.evaluate({}), refusal('expression_failed', /too (many|much)/))
  }
  const backtracks = compile('payload.status matches "^(a+)+$"', columns)
  assert.equal(backtracks.matches({ status: `${'a'.repeat(10_000)}b` }), false)
})

test('C148: what fails for one row does not end the next', () => {
  const filter = compile('100 % payload.n > 5', columns)
  assert.throws(() => filter.matches({ n: 0 }), refusal('expression_failed', /divide by zero/))
  assert.equal(filter.matches({ n: 7 }), false)
  assert.equal(filter.matches({ n: 94 }), true)
  assert.equal(compile('100 / payload.n > 5', columns).matches({ n: 1 }), true)
})

test('C001, C004, C005: numbers are compared as the database holds them', () => {
  const on = (/** @type {string} */ source, /** @type {object} */ row) =>
    compile(source, columns).evaluate(row)
  assert.equal(on('id', { id: 9007199254740993n }), 9007199254740993n)
  assert.equal(on('id == 9007199254740993', { id: 9007199254740993n }), true)
  assert.equal(on('id == 9007199254740992', { id: 9007199254740993n }), false)
  assert.equal(on('total', { total: '1.50' }), '1.50')
  assert.equal(on('total > 1.49', { total: '1.5000000000000000000000000001' }), true)
  assert.equal(on('total > 1e300', { total: 'NaN' }), true)
  for (const ratio of ['Infinity', Number.POSITIVE_INFINITY]) {
    assert.equal(on('ratio > 1e308', { ratio }), true)
  }
  assert.equal(on('raw', { raw: new Uint8Array([0, 255]) }), '\\x00ff')
})

test('C006: infinite timestamps come after and before all others', () => {
  const filter = compile('payload.until > "2030-01-01"', columns)
  assert.equal(filter.matches({ until: 'infinity' }), true)
  assert.equal(filter.matches({ until: '-infinity' }), false)
  assert.equal(filter.matches({ until: '2030-01-01 00:00:00.5+00' }), true)
  assert.throws(() => filter.matches({ until: null }), refusal('expression_failed', /./))
})

test('what is wrong with an expression is said where it is written', () => {
  const refused = (/** @type {string} */ source, /** @type {RegExp} */ message) =>
    assert.throws(() => compile(source, columns), refusal('bad_expression', message))
  refused('payload.staus == "open"', /line 1, column 9: .*did you mean status\?/)
  refused('payload.status\n  > 1', /line 2, column 3: > cannot take a string and an integer/)
  refused('"é" +', /line 1, column 6: expected a value and found the end/)
  refused('upper()', /upper takes at least 1/)
  refused('', /expected a value/)
})

test('the time is an argument, and equal sources have one canonical form', () => {
  const now = Date.UTC(2026, 0, 31)
  assert.equal(compile('now().Day()', {}).evaluate({}, { now }), 31)
  const { canonical } = compile('status=="a"and n<2', columns)
  assert.equal(compile('(status == "a") && 2 > n', columns).canonical, canonical)
})

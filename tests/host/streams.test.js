// Entity streams over HTTP, by real clients: who reads, stalls, leaves, comes back, and is cut anywhere.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { createServer, connect as dial } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import { EventSource } from 'eventsource'
import { createParser } from 'eventsource-parser'
import { Millstream } from 'millstream'
import { PGliteClient } from 'millstream/pglite'
import { listener, serve } from 'millstream/server'
import { Reader, until } from './reader.js'

/** @import { Schema, MillstreamOptions } from 'millstream' */

const run = promisify(execFile)

/** @type {Schema} */
const schema = {
  entities: [
    {
      name: 'order',
      relation: 'orders',
      access: { anonymous: true },
      events: [{ name: 'changed' }],
      subscriptions: [{ name: 'mine' }],
    },
    {
      name: 'secret',
      relation: 'orders',
      events: [{ name: 'changed' }],
      subscriptions: [{ name: 'a' }, { name: 'b', eventtypes: ['create'] }],
    },
  ],
}

/** @type {PGlite} */
let pglite
/** @type {PGliteClient} */
let db
/** @type {Millstream} */
let stream
/** @type {Awaited<ReturnType<typeof serve>>} */
let server
/** @type {Set<Reader>} */
const readers = new Set()
let nextId = 1

before(async () => {
  pglite = await PGlite.create()
  db = new PGliteClient(pglite)
  await db.exec('create table orders (id int primary key, title text)')
  await open()
})
afterEach(async () => {
  for (const reader of readers) reader.leave()
  readers.clear()
  await until(() => stream.stats().activeSubscriptions === 0)
  checkCounts()
})
after(async () => {
  await server.close()
  await db.close()
  await pglite.close()
})

/**
 * Opens the streams, and a server of theirs.
 *
 * @param {number} [port]
 * @param {Partial<MillstreamOptions>} [options]
 */
async function open(port = 0, options = {}) {
  stream = await Millstream.open({ db, schema, ...options })
  server = await serve(stream, { port })
}

/** @param {ConstructorParameters<typeof Reader>} parameters */
function read(...parameters) {
  const reader = new Reader(...parameters)
  readers.add(reader)
  return reader
}

/**
 * Opens a stream on orders.
 *
 * @param {string} [query]
 * @param {string} [lastEventId]
 */
async function orders(query = '', lastEventId) {
  const reader = read(`${server.url}/subscribe/order${query}`, { lastEventId })
  await reader.open()
  return reader
}

/**
 * Fetches over a connection of its own: one kept from before may be that of a server that has closed.
 *
 * @param {string} path
 * @param {RequestInit} [init]
 */
function get(path, init = {}) {
  const headers = { .../** @type {object} */ (init.headers), connection: 'close' }
  return fetch(`${server.url}${path}`, { ...init, headers })
}

/** Each event that matched is in one of the other counters. */
function checkCounts() {
  const stats = stream.stats()
  for (const { matched, delivered, dropped, withheld, failed, pending } of [
    stats,
    ...stats.subscriptions,
  ]) {
    assert.equal(matched, delivered + dropped + withheld + failed + pending)
  }
  return stats
}

/** Inserts rows in one transaction, and gives their keys as events name them. */
async function insert(count = 1, title = 'x') {
  const first = nextId
  nextId += count
  await db.query('insert into orders select id, $3 from generate_series($1::int, $2::int) id', [
    first,
    nextId - 1,
    title,
  ])
  return Array.from({ length: count }, (_, index) => String(first + index))
}

describe('a stream', () => {
  test('is what curl shows: the documented frames, byte for byte', async () => {
    const shown = run('curl', [
      '-sNi',
      '--max-time',
      '3',
      `${server.url}/subscribe/order?lifetime=2s`,
    ])
    await until(() => stream.stats().activeSubscriptions === 1)
    const [id] = await insert()
    await db.query('update orders set title = $1 where id = $2', ['y', id])
    await db.query('delete from orders where id = $1', [id])
    const { stdout } = await shown
    const [head = '', body = ''] = stdout.split(/\r\n\r\n/)
    assert.match(head, /^HTTP\/1.1 200 OK\r\n/)
    for (const line of [
      'Content-Type: text/event-stream',
      'Cache-Control: no-cache, no-transform',
      'X-Accel-Buffering: no',
      'Connection: keep-alive',
      'Transfer-Encoding: chunked',
    ]) {
      assert.ok(head.includes(`\r\n${line}`), head)
    }
    const masked = body
      .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    const frame = (/** @type {string} */ operation) =>
      `id: ID\nevent: entity.${operation}\ndata: {"id":"ID","type":"entity.${operation}",` +
      `"entity":"order","operation":"${operation}","subject":"${id}","time":"TIME",` +
      '"tenant":"default"}\n\n'
    assert.equal(
      masked,
      'retry: 2000\n: subscribed entity=order subscription=mine closing-in=2s\n\nid: ID\n\n' +
        frame('create') +
        frame('update') +
        frame('delete') +
        ': ping\n\n'.repeat(0) +
        ': closing, reconnect\n\n',
    )
  })

  test('opens at once, before anything happens', async () => {
    const reader = await orders('?heartbeat=5m')
    assert.equal(reader.events.length, 0)
    assert.match(reader.text, /^retry: 2000\n: subscribed /)
  })

  test('is told of writes past our client, and of nothing that is rolled back', async () => {
    const reader = await orders()
    await db.query('begin; insert into orders values (-1); rollback')
    await pglite.exec('insert into orders values (-2)')
    const [last] = await insert()
    await reader.until(({ subjects }) => subjects.includes(/** @type {string} */ (last)))
    assert.deepEqual(reader.subjects, ['-2', last])
    await db.query('delete from orders where id < 0')
  })

  test('is pinged', async () => {
    const reader = await orders('?heartbeat=1s')
    await reader.until(({ comments }) => comments.filter((it) => it === 'ping').length === 2)
  })

  test('of a burst of 10,000 rows in one transaction misses none', async () => {
    const reader = await orders()
    const ids = await insert(10_000)
    await reader.until(({ events }) => events.length >= ids.length)
    assert.deepEqual(reader.subjects, ids)
    assert.equal(stream.stats().subscriptions[0]?.dropped, 0)
  })

  test('by the web platform is the same', async () => {
    const response = await stream.fetch(new Request('http://any.host/subscribe/order'))
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('connection'), null)
    const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader()
    const ids = await insert(3)
    /** @type {string[]} */
    const subjects = []
    const parser = createParser({ onEvent: ({ data }) => subjects.push(JSON.parse(data).subject) })
    const decoder = new TextDecoder()
    while (subjects.length < 3) {
      const { value } = await body.read()
      parser.feed(decoder.decode(value, { stream: true }))
    }
    assert.deepEqual(subjects, ids)
    await body.cancel()
    await until(() => stream.stats().activeSubscriptions === 0)
  })
})

describe('EventSource', () => {
  test('receives, connects again after a restart, and resumes with nothing missed or doubled', async () => {
    const { port } = server
    const source = new EventSource(`${server.url}/subscribe/order`)
    /** @type {string[]} */
    const seen = []
    /** @type {string[]} */
    const gaps = []
    source.addEventListener('entity.create', ({ data }) => seen.push(JSON.parse(data).subject))
    source.addEventListener('gap', ({ data }) => gaps.push(JSON.parse(data).reason))
    try {
      await until(() => stream.stats().activeSubscriptions === 1)
      const first = await insert(2)
      await until(() => seen.length === 2)
      await server.close()
      const second = await insert(3)
      await open(port)
      await until(() => seen.length >= 5)
      const third = await insert(1)
      await until(() => seen.length >= 6)
      assert.deepEqual(seen, [...first, ...second, ...third])
      assert.deepEqual(gaps, [])

      await server.close()
      await insert(3)
      const trimmed =
        'select millstream.trim_log((select max(seq) - 1 from millstream.log), 0, 1000000)'
      await pglite.query(trimmed)
      await open(port)
      await until(() => gaps.length > 0)
      const last = await insert(1)
      await until(() => seen.includes(/** @type {string} */ (last[0])))
      assert.deepEqual(gaps, ['trimmed'])
    } finally {
      source.close()
    }
  })
})

describe('a connection', () => {
  test('that is cut at any byte is resumed with nothing missed or doubled', async () => {
    const begun = await orders()
    const start = begun.lastId
    const ids = await insert(3)
    await begun.until(({ events }) => events.length === 3)
    const { text } = begun
    const cuts = createServer((client) => {
      const upstream = dial(server.port, '127.0.0.1')
      client.on('error', () => upstream.destroy())
      upstream.on('error', () => client.destroy())
      client.pipe(upstream)
      const { remotePort } = client
      const cut = /** @type {number} */ (remaining.shift())
      let passed = 0
      upstream.on('data', (chunk) => {
        const rest = cut - passed
        passed += chunk.length
        if (chunk.length < rest) return client.write(chunk)
        client.end(chunk.subarray(0, rest))
        upstream.destroy()
      })
      client.on('close', () => upstream.destroy())
      assert.ok(remotePort)
    })
    await new Promise((resolve) => cuts.listen(0, '127.0.0.1', () => resolve(null)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (cuts.address())
    /** @type {number[]} */
    const remaining = []
    try {
      // Every byte of head, frames and what lies between; the rest of the way is not cut.
      for (let cut = 1; cut < text.length + 400; cut += 7) {
        remaining.push(cut)
        const first = new Reader(`http://127.0.0.1:${port}/subscribe/order`, { lastEventId: start })
        await Promise.race([first.over(), first.until(({ events }) => events.length === 3)])
        first.leave()
        const rest = new Reader(`${server.url}/subscribe/order`, {
          lastEventId: first.lastId ?? start,
        })
        const missing = 3 - first.events.length
        await rest.until(({ events, text }) => text.includes('\nid: ') && events.length >= missing)
        rest.leave()
        assert.deepEqual([...first.subjects, ...rest.subjects], ids, `cut after ${cut} bytes`)
      }
    } finally {
      cuts.close()
    }
  })

  test('whose client stalls loses what is beyond 64, for itself alone, and is told', async () => {
    const [stalled, healthy] = [await orders(), await orders()]
    stalled.pause()
    const before = stream.stats()
    let written = 0
    // What the sockets on the way hold is theirs; from there on it waits here.
    while (stream.stats().dropped === before.dropped) {
      await insert(500, 'y'.repeat(10))
      written += 500
      await healthy.until(({ events }) => events.length === written)
    }
    const { dropped } = checkCounts()
    const lost = dropped - before.dropped
    assert.equal(stream.stats().pending, 64)
    stalled.resume()
    await stalled.until(({ events }) => events.length === written - lost + 1)
    const gap = stalled.events.findIndex(({ event }) => event === 'gap')
    assert.equal(stalled.events[gap]?.data.dropped, lost)
    assert.equal(stalled.events.length - gap - 1, 64)
    assert.deepEqual(stalled.subjects, [
      ...healthy.subjects.slice(0, gap),
      ...healthy.subjects.slice(-64),
    ])
    const ids = stalled.events.map(({ id }) => id)
    assert.deepEqual(ids, [...ids].sort())
  })

  test('by the web platform whose reader stalls holds 64 events and no more', async () => {
    const response = await stream.fetch(new Request('http://any.host/subscribe/order'))
    const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader()
    const before = stream.stats().dropped
    await insert(1_000)
    await until(() => stream.stats().dropped > before)
    assert.equal(checkCounts().pending, 64)
    await body.cancel()
    assert.equal(checkCounts().pending, 0)
  })

  for (const reset of [false, true]) {
    test(`whose client leaves by a ${reset ? 'reset' : 'FIN'} is gone without a write`, async () => {
      const all = Array.from({ length: 200 }, () =>
        read(`${server.url}/subscribe/order?heartbeat=1s`),
      )
      await Promise.all(all.map((reader) => reader.open()))
      assert.equal(stream.stats().activeSubscriptions, 200)
      for (const reader of all) reader.leave({ reset })
      await until(() => stream.stats().activeSubscriptions === 0)
    })
  }

  test('that lives its life is told to connect again', async () => {
    const reader = await orders('?lifetime=1s')
    await reader.over()
    assert.ok(reader.text.endsWith(': closing, reconnect\n\n'))
    assert.equal(stream.stats().activeSubscriptions, 0)
  })

  test('is told when the server closes', async () => {
    const all = await Promise.all([orders(), orders(), orders()])
    const { port } = server
    await server.close()
    for (const reader of all) {
      await reader.over()
      assert.ok(reader.text.endsWith(': closing, reconnect\n\n'))
    }
    const late = await stream.fetch(new Request('http://any.host/subscribe/order'))
    assert.equal(late.status, 503)
    await open(port)
  })

  test('that its client leaves before it is answered leaves nothing behind', async () => {
    const tx = await db.begin()
    const waiting = Array.from({ length: 5 }, () => read(`${server.url}/subscribe/order`))
    const leaving = new AbortController()
    const request = new Request('http://any.host/subscribe/order', { signal: leaving.signal })
    stream.fetch(request).catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    for (const reader of waiting) reader.leave()
    leaving.abort()
    await Promise.all(waiting.map((reader) => reader.over()))
    await tx.rollback()
    await (await orders()).until(() => stream.stats().activeSubscriptions === 1)
  })
})

describe('a server', () => {
  test('refuses with a status, a code and what would be accepted', async () => {
    /** @type {[string, RequestInit, number, string][]} */
    const refusals = [
      ['/', {}, 404, 'not_found'],
      ['/subscribe/none', {}, 404, 'entity_not_found'],
      ['/subscribe/secret', {}, 401, 'unauthenticated'],
      ['/subscribe/order?name=none', {}, 404, 'subscription_not_found'],
      ['/subscribe/order?ops=insert', {}, 400, 'bad_ops'],
      ['/subscribe/order?heartbeat=0s', {}, 400, 'bad_heartbeat'],
      ['/subscribe/order?lifetime=5h', {}, 400, 'bad_lifetime'],
      ['/subscribe/order?since=x', {}, 400, 'bad_since'],
      ['/subscribe/order', { headers: { 'last-event-id': 'x' } }, 400, 'bad_since'],
      ['/subscribe/order', { method: 'POST' }, 405, 'method_not_allowed'],
    ]
    for (const [path, init, status, code] of refusals) {
      const response = await get(path, init)
      const { error } = /** @type {any} */ (await response.json())
      assert.deepEqual([response.status, error.code], [status, code], path)
      assert.equal(response.headers.get('content-type'), 'application/json')
      const same = await stream.fetch(new Request(`http://any.host${path}`, init))
      assert.deepEqual(await same.json(), { error })
    }
    const head = await get('/subscribe/order', { method: 'HEAD' })
    assert.equal(head.headers.get('content-type'), 'text/event-stream')
    const options = await get('/subscribe/order', { method: 'OPTIONS' })
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
  })

  test('asks who is there, and trusts nobody whom it cannot ask about', async () => {
    const { port } = server
    await server.close()
    /** @type {unknown[]} */
    const reported = []
    await open(port, {
      onError: (error) => reported.push(error),
      authenticate: async (request) => {
        const token = request.headers.get('authorization')
        if (token === 'broken') throw new Error('no such key')
        return token === 'good' ? { sub: 'u1', exp: Date.now() / 1_000 + 1 } : null
      },
    })
    const status = async (/** @type {string} */ authorization) => {
      const headers = { authorization }
      const url = '/subscribe/secret?name=a'
      const [one, other] = await Promise.all([
        get(url, { headers }),
        stream.fetch(new Request(`http://any.host${url}`, { headers })),
      ])
      for (const response of [one, other]) await response.body?.cancel()
      assert.equal(one.status, other.status)
      return one.status
    }
    assert.equal(await status('good'), 200)
    assert.equal(await status('bad'), 401)
    assert.equal(await status('broken'), 401)
    assert.deepEqual(reported.map(String), Array(2).fill('Error: no such key'))
    const expiring = read(`${server.url}/subscribe/secret?name=a`, {
      headers: { authorization: 'good' },
    })
    await expiring.over()
    assert.ok(expiring.text.endsWith(': closing, reconnect\n\n'))
    await server.close()
    await open(port)
  })

  test('shows nothing of a table that the database guards or does not have', async () => {
    await db.exec('alter table orders enable row level security')
    const guarded = await get('/subscribe/order')
    assert.equal(guarded.status, 403)
    await db.exec(
      'alter table orders disable row level security; alter table orders rename to gone',
    )
    const gone = await get('/subscribe/order')
    const { error } = /** @type {any} */ (await gone.json())
    assert.deepEqual([gone.status, error.code], [403, 'forbidden'])
    assert.ok(!error.message.includes('orders'))
    await db.exec('alter table gone rename to orders')
    await orders()
  })

  test('over HTTP/2 sends no header of the connection', async () => {
    const http2 = createHttp2Server(/** @type {any} */ (listener(stream)))
    await new Promise((resolve) => http2.listen(0, '127.0.0.1', () => resolve(null)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (http2.address())
    /** @type {Error[]} */
    const warnings = []
    const warn = (/** @type {Error} */ warning) => warnings.push(warning)
    process.on('warning', warn)
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    try {
      const request = session.request({ ':path': '/subscribe/order' })
      /** @type {Record<string, any>} */
      const headers = await new Promise((resolve) => request.on('response', resolve))
      assert.deepEqual(
        [headers[':status'], headers.connection, headers['x-accel-buffering']],
        [200, undefined, 'no'],
      )
      const [id] = await insert()
      let text = ''
      for await (const chunk of request.setEncoding('utf8')) {
        text += chunk
        if (text.includes(`"subject":"${id}"`)) break
      }
      request.close()
      await until(() => stream.stats().activeSubscriptions === 0)
      assert.deepEqual(warnings, [])
    } finally {
      process.off('warning', warn)
      session.close()
      http2.close()
    }
  })

  test('of one client is open once at a time', async () => {
    await assert.rejects(Millstream.open({ db, schema }), { code: 'already_open' })
    const other = new PGliteClient(pglite)
    const opening = [1, 2].map(() => Millstream.open({ db: other, schema }))
    const [first, second] = await Promise.allSettled(opening)
    assert.deepEqual([first?.status, second?.status], ['fulfilled', 'rejected'])
    const [one] = await Promise.all(opening.slice(0, 1))
    await one?.close()
    const again = await Millstream.open({ db: other, schema })
    await one?.close()
    const response = await again.fetch(new Request('http://any.host/subscribe/order'))
    assert.equal(response.status, 200)
    await response.body?.cancel()
    await other.close()
  })

  test('does not open over a schema that is refused, and tells all that is wrong', async () => {
    const other = new PGliteClient(pglite)
    const bad = /** @type {any} */ ({
      entities: [
        { name: 'x', relation: 'order', events: [{ name: 'e' }], subscriptions: [{ nam: 's' }] },
      ],
    })
    await assert.rejects(Millstream.open({ db: other, schema: bad }), ({ code, refusals }) => {
      assert.equal(code, 'bad_schema')
      assert.deepEqual(
        refusals.map((/** @type {any} */ it) => [it.path, it.code]),
        [
          ['entities[0].subscriptions[0].nam', 'unknown_key'],
          ['entities[0].subscriptions[0].name', 'missing_key'],
        ],
      )
      return true
    })
    bad.entities[0].subscriptions = [{ name: 's' }]
    await assert.rejects(Millstream.open({ db: other, schema: bad }), /did you mean 'orders'/)
    bad.entities[0].relation = 'orders'
    await (await Millstream.open({ db: other, schema: JSON.stringify(bad) })).close()
    await other.close()
  })
})

describe('three readers of the same bytes', () => {
  test('dispatch the same events however the bytes are split', async () => {
    const reader = await orders()
    await db.query(`insert into orders values (-10, 'multi\nline')`)
    await db.query('update orders set id = -11 where id = -10')
    await db.query('delete from orders where id = -11')
    await reader.until(({ events }) => events.length === 4)
    const bytes = Buffer.from(`${reader.text}: ping\n\n`)
    /** @type {unknown[]} */
    const dripped = []
    const parser = createParser({
      onEvent: ({ id, event, data }) => dripped.push({ id, event, data: JSON.parse(data) }),
    })
    for (const byte of bytes) parser.feed(String.fromCharCode(byte))
    assert.deepEqual(dripped, reader.events)

    // A server that sends our bytes one by one.
    const dripping = createHttpServer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const byte of bytes) {
        response.write(Buffer.from([byte]))
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    await new Promise((resolve) => dripping.listen(0, '127.0.0.1', () => resolve(null)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (dripping.address())
    const source = new EventSource(`http://127.0.0.1:${port}/`)
    /** @type {unknown[]} */
    const dispatched = []
    for (const kind of ['create', 'update', 'delete']) {
      source.addEventListener(`entity.${kind}`, ({ lastEventId, type, data }) => {
        dispatched.push({ id: lastEventId, event: type, data: JSON.parse(data) })
      })
    }
    try {
      await until(() => dispatched.length === 4)
      assert.deepEqual(dispatched, reader.events)
    } finally {
      source.close()
      dripping.closeAllConnections()
      dripping.close()
    }
  })
})

describe('a client that leaves without a word', () => {
  test('behind other requests on its connection is gone with it', async () => {
    const socket = dial(server.port, '127.0.0.1')
    const asked = 'GET /subscribe/order HTTP/1.1\r\nhost: localhost\r\n\r\n'
    socket.write(asked.repeat(12))
    await until(() => stream.stats().activeSubscriptions > 1)
    socket.destroy()
    await until(() => stream.stats().activeSubscriptions === 0)
  })

  test('by resetting its HTTP/2 stream without an error is gone', async () => {
    const http2 = createHttp2Server(/** @type {any} */ (listener(stream)))
    await new Promise((resolve) => http2.listen(0, '127.0.0.1', () => resolve(null)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (http2.address())
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    try {
      for (let times = 0; times < 10; times++) {
        const request = session.request({ ':path': '/subscribe/order' })
        request.on('response', () => request.close())
        await new Promise((resolve) => request.on('close', () => resolve(null)))
      }
      await (await orders()).until(() => stream.stats().activeSubscriptions === 1)
    } finally {
      session.close()
      http2.close()
    }
  })

  test('does not keep a server from closing, even where it never sent a request', async () => {
    const { port } = server
    const idle = dial(port, '127.0.0.1')
    await new Promise((resolve) => idle.on('connect', () => resolve(null)))
    idle.on('error', () => undefined)
    await server.close()
    await open(port)
  })

  test('has its promise rejected where it aborts before it is answered', async () => {
    const request = new Request('http://any.host/subscribe/order', { signal: AbortSignal.abort() })
    await assert.rejects(stream.fetch(request), { name: 'AbortError' })
    const leaving = new AbortController()
    const { signal } = leaving
    await stream.fetch(new Request('http://any.host/subscribe/order', { signal }))
    assert.equal(stream.stats().activeSubscriptions, 1)
    leaving.abort()
    await until(() => stream.stats().activeSubscriptions === 0)
  })
})

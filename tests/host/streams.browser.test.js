// Entity streams in Chromium, by its own EventSource.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { Millstream } from 'millstream'
import { PGliteClient } from 'millstream/pglite'
import { serve } from 'millstream/server'
import { chromium } from 'playwright-core'
import { Reader, until } from './reader.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

const schema = {
  entities: [
    {
      name: 'order',
      relation: 'orders',
      access: { anonymous: true },
      events: [{ name: 'changed' }],
      subscriptions: [{ name: 'mine' }],
    },
  ],
}
const kinds = ['create', 'update', 'delete'].map((word) => `entity.${word}`)

describe('EventSource in Chromium', () => {
  /** @type {PGlite} */
  let pglite
  /** @type {PGliteClient} */
  let db
  /** @type {Millstream} */
  let stream
  /** @type {Awaited<ReturnType<typeof serve>>} */
  let server
  /** @type {import('playwright-core').Browser} */
  let browser
  /** Bytes of ours that a page is sent one by one. */
  let dripped = Buffer.alloc(0)

  before(async () => {
    pglite = await PGlite.create()
    db = new PGliteClient(pglite)
    await db.exec('create table orders (id int primary key, title text)')
    await open(0)
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
  })
  after(async () => {
    await browser.close()
    await server.close()
    await db.close()
    await pglite.close()
  })

  /** @param {number} port */
  async function open(port) {
    stream = await Millstream.open({ db, schema })
    server = await serve(stream, { port, before: serveOthers })
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  function serveOthers({ url }, response) {
    if (url === '/') {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><link rel="icon" href="data:,"><title>Streams</title>')
    } else if (url === '/dripped') {
      drip(response)
    } else {
      return false
    }
    return true
  }

  /** @param {ServerResponse} response */
  async function drip(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const byte of dripped) {
      response.write(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /**
   * Opens an EventSource in a page of its own, and gives what it has dispatched so far.
   *
   * @param {string} path
   */
  async function listen(path) {
    const page = await browser.newPage()
    await page.goto(server.url)
    await page.evaluate(
      ([path, kinds]) => {
        const seen = /** @type {unknown[]} */ ([])
        Object.assign(window, { seen })
        const source = new EventSource(/** @type {string} */ (path))
        for (const kind of [.../** @type {string[]} */ (kinds), 'gap']) {
          source.addEventListener(kind, ({ type, lastEventId, data }) => {
            seen.push({ id: lastEventId, event: type, data: JSON.parse(data) })
          })
        }
      },
      [path, kinds],
    )
    /** @returns {Promise<any[]>} */
    const seen = () => page.evaluate(() => /** @type {any} */ (window).seen)
    return { page, seen }
  }

  test('receives, connects again after a restart, resumes without a seam, and hears of a gap', async () => {
    const { page, seen } = await listen('/subscribe/order')
    await until(() => stream.stats().activeSubscriptions === 1)
    await db.query('insert into orders values (1), (2)')
    await until(async () => (await seen()).length === 2)
    const { port } = server
    await server.close()
    await db.query('insert into orders values (3), (4)')
    await open(port)
    await until(async () => (await seen()).length >= 4)
    await db.query('insert into orders values (5)')
    await until(async () => (await seen()).length >= 5)
    assert.deepEqual(
      (await seen()).map(({ data }) => data.subject),
      ['1', '2', '3', '4', '5'],
    )

    await server.close()
    await db.query('insert into orders values (6), (7)')
    await pglite.query(
      'select millstream.trim_log((select max(seq) - 1 from millstream.log), 0, 1000)',
    )
    await open(port)
    await until(async () => (await seen()).length >= 7)
    const [gap, last] = (await seen()).slice(5)
    assert.deepEqual([gap.event, gap.data.reason, last.data.subject], ['gap', 'trimmed', '7'])
    await page.close()
    await until(() => stream.stats().activeSubscriptions === 0)
  })

  test('reads our bytes the same however they are split', async () => {
    const reader = await new Reader(`${server.url}/subscribe/order`).open()
    await db.query(`insert into orders values (-1, 'x'); update orders set id = -2 where id = -1`)
    await db.query('delete from orders where id = -2')
    await reader.until(({ events }) => events.length === 4)
    reader.leave()
    dripped = Buffer.from(`${reader.text}: ping\n\n`)
    const { page, seen } = await listen('/dripped')
    await until(async () => (await seen()).length >= 4)
    assert.deepEqual(await seen(), reader.events)
    await page.close()
  })

  test('loses none of a burst of 10,000 rows', async () => {
    const { page, seen } = await listen('/subscribe/order')
    await until(() => stream.stats().activeSubscriptions === 1)
    await db.query('insert into orders select id from generate_series(10001, 20000) id')
    await page.waitForFunction(() => /** @type {any} */ (window).seen.length >= 10_000)
    const subjects = (await seen()).map(({ data }) => Number(data.subject))
    assert.deepEqual(
      subjects,
      Array.from({ length: 10_000 }, (_, index) => 10_001 + index),
    )
    await page.close()
  })
})

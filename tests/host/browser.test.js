// A page in Chromium: PGlite and the engine run there, and commits reach a callback.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { chromium } from 'playwright-core'

const root = new URL('../../', import.meta.url)
const types = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' }

/** What a bundler does by the conditions of package.json, said by hand. */
const page = `<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>Millstream</title>
<script type="importmap">
{ "imports": {
  "#runtime": "/js/runtime/browser.js",
  "millstream/pglite": "/js/database/pglite/client.js",
  "@electric-sql/pglite": "/node_modules/@electric-sql/pglite/dist/index.js"
} }
</script>`

describe('in Chromium', () => {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (path === '/') return response.setHeader('content-type', types.html).end(page)
    try {
      const extension = /** @type {keyof types} */ (path.split('.').at(-1))
      response.setHeader('content-type', types[extension] ?? 'application/octet-stream')
      response.end(await readFile(new URL(`.${path}`, root)))
    } catch {
      response.writeHead(404).end()
    }
  })
  /** @type {import('playwright-core').Browser} */
  let browser

  before(async () => {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)))
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
  })
  after(async () => {
    await browser.close()
    server.close()
  })

  test('PGlite in a page delivers its commits', async () => {
    const tab = await browser.newPage()
    /** @type {string[]} */
    const errors = []
    tab.on('pageerror', (error) => errors.push(String(error)))
    tab.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    await tab.goto(`http://127.0.0.1:${port}/`)
    const seen = await tab.evaluate(async () => {
      const { PGlite } = await import('@electric-sql/pglite')
      const { PGliteClient } = await import('millstream/pglite')
      const db = new PGliteClient(await PGlite.create())
      await db.query('create table users (id bigint primary key, photo bytea)')
      /** @type {unknown[]} */
      const seen = []
      const sub = await db.wal.subscribe({ public: ['users'] }, ({ entries }) => {
        for (const entry of entries) {
          const { id, photo } = /** @type {any} */ (entry).new
          seen.push([entry.op, String(id), Array.from(photo)])
        }
      })
      await db.query(`
        insert into users values (9007199254740993, '\\x00ff');
        update users set photo = '\\x01';
      `)
      await sub.abort()
      return seen
    })
    assert.deepEqual(seen, [
      ['insert', '9007199254740993', [0, 255]],
      ['update', '9007199254740993', [1]],
    ])
    assert.deepEqual(errors, [])
  })
})

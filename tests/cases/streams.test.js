// What went wrong for others who serve events: each test is named for what is right.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Millstream } from 'millstream'
import { serve } from 'millstream/server'
import { Reader, until } from '../host/reader.js'
import { open } from './support.js'

const { db } = await open()

describe('server-sent events', () => {
  /** @type {Millstream} */
  let stream
  /** @type {Awaited<ReturnType<typeof serve>>} */
  let server

  before(async () => {
    await db.exec('create table notes (id text primary key, body text)')
    const schema = {
      entities: [
        {
          name: 'note: {"x":1}',
          relation: 'notes',
          access: { anonymous: true },
          events: [{ name: 'changed' }],
          subscriptions: [{ name: 'id: all' }],
        },
      ],
    }
    stream = await Millstream.open({ db, schema, tenant: 'a\u2028b' })
    server = await serve(stream, { port: 0 })
  })
  after(() => server.close())

  const url = (base = server.url) => `${base}/subscribe/${encodeURIComponent('note: {"x":1}')}`

  /** @param {string} [base] */
  const reader = async (base) => new Reader(url(base)).open()

  test('keys with line breaks and fields of their own forge nothing', async () => {
    const stream = await reader()
    const keys = [
      'a\nb',
      'a\r\nb',
      'x\ndata: {"forged":1}\n\n',
      'y\r\rid: 7\r\r',
      ': ping',
      'id: 9\n',
    ]
    for (const key of keys) await db.query('insert into notes values ($1)', [key])
    await stream.until(({ events }) => events.length === keys.length)
    assert.deepEqual(stream.subjects, keys)
    assert.equal(stream.text.split('\n\n').length, 2 + keys.length + 1)
    assert.deepEqual(stream.comments, [
      'subscribed entity=note: {"x":1} subscription=id: all closing-in=30m0s',
    ])
    stream.leave()
  })

  test('names that hold a control character are refused at boot', async () => {
    const other = await open()
    await other.db.exec('create table notes (id text primary key)')
    for (const name of ['a\nb', 'a\rb', 'a\0b', '\u007f']) {
      const entities = [{ name, relation: 'notes' }]
      await assert.rejects(
        Millstream.open({ db: other.db, schema: { entities } }),
        ({ refusals }) => {
          assert.deepEqual([refusals[0].path, refusals[0].code], ['entities[0].name', 'bad_value'])
          return true
        },
      )
    }
  })

  test('what some readers take for the end of a line is escaped, and reads back the same', async () => {
    const stream = await reader()
    const key = 'a\u2028b\u2029c\u0085d\ufeffe'
    await db.query('insert into notes values ($1)', [key])
    await stream.until(({ events }) => events.length === 1)
    assert.deepEqual(stream.subjects, [key])
    assert.equal(stream.events[0]?.data.tenant, 'a\u2028b')
    const [, frames = ''] = stream.text.split('\nevent: ')
    assert.doesNotMatch(frames, /[\u2028\u2029\u0085\ufeff]/)
    stream.leave()
  })

  test('fifty clients that do not read hold 64 events each, and keep nobody waiting', async () => {
    const healthy = await reader()
    const slow = await Promise.all(Array.from({ length: 50 }, () => reader()))
    for (const stream of slow) stream.pause()
    let written = 0
    // A socket holds what it can before anything waits here.
    while (stream.stats().pending < 50 * 64) {
      await db.query(
        `insert into notes select 'slow ' || id from generate_series($1::int, $2::int) id`,
        [written + 1, written + 1_000],
      )
      written += 1_000
      await healthy.until(({ events }) => events.length === written)
    }
    await until(() => stream.stats().pending === 50 * 64)
    const { matched, delivered, dropped, pending } = stream.stats()
    assert.equal(matched, delivered + dropped + pending)
    for (const stream of [...slow, healthy]) stream.leave()
    await until(() => stream.stats().activeSubscriptions === 0)
  })

  test('a client that reads in fits and starts is sent each frame once', async () => {
    const fitful = await reader()
    for (let fit = 0; fit < 5; fit++) {
      fitful.pause()
      const key = `fit ${fit} `
      await db.query(`insert into notes select $1 || id from generate_series(1, 2000) id`, [key])
      fitful.resume()
      await fitful.until(({ subjects }) => subjects.at(-1) === `${key}2000`)
    }
    const ids = fitful.events.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(ids, [...ids].sort())
    const lost = fitful.events.reduce((sum, { data }) => sum + (data.dropped ?? 0), 0)
    assert.equal(fitful.subjects.length + lost, 10_000)
    fitful.leave()
  })

  test('a proxy with its own settings passes each frame on at once', {
    skip: !process.env.CI && noNginx(),
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millstream-'))
    const port = await freePort()
    await writeFile(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/pid; error_log stderr;
       events {}
       http {
         access_log off;
         client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
         uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
         server { listen 127.0.0.1:${port}; location / { proxy_pass ${server.url}; } }
       }`,
    )
    const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
      stdio: 'ignore',
    })
    const base = `http://127.0.0.1:${port}`
    try {
      await until(() =>
        fetch(base).then(
          () => true,
          () => false,
        ),
      )
      const stream = await reader(base)
      await db.query(`insert into notes values ('through the proxy')`)
      // Nothing follows this frame, so that no buffer is filled.
      await stream.until(({ events }) => events.length === 1)
      stream.leave()
      const refused = await fetch(`${base}/subscribe/none`)
      assert.equal(refused.status, 404)
    } finally {
      nginx.kill()
      await new Promise((resolve) => nginx.once('exit', resolve))
      await rm(folder, { recursive: true })
    }
  })
})

/** Why a test that needs nginx is skipped, if it must be. */
function noNginx() {
  const found = process.env.PATH?.split(':').some((folder) => existsSync(join(folder, 'nginx')))
  return found || existsSync('/usr/sbin/nginx')
    ? false
    : 'no nginx here (Debian: apt-get install nginx-light)'
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer()
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  await new Promise((resolve) => probe.close(resolve))
  return port
}

// `millstream` as it is typed: what it says, what it serves, and how it ends.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Owner } from '../../js/cli/owner.js'
import { Command } from './command.js'
import { Reader } from './reader.js'

/** @type {Command[]} */
const commands = []
/** @type {string} */
let folder

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millstream-cli-'))
})
after(async () => {
  for (const command of commands) await command.kill()
  await rm(folder, { recursive: true })
})

/**
 * @param {string[]} words
 * @param {Record<string, string>} [env]
 */
function start(words, env) {
  const command = new Command(words, env)
  commands.push(command)
  return command
}

/** @param {...string} words */
async function run(...words) {
  const command = start(words)
  const code = await command.exited
  return { code, output: command.output, errors: command.errors }
}

/**
 * @param {string} name
 * @param {string} text
 */
async function file(name, text) {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

/** A server that has a port. */
async function occupy(port = 0) {
  const server = createServer()
  await new Promise((resolve) => {
    server.on('error', resolve)
    server.listen(port, '127.0.0.1', () => resolve(null))
  })
  return server
}

describe('millstream', () => {
  test('helps in whatever way it is asked', async () => {
    for (const words of [[], ['help'], ['--help'], ['-h']]) {
      const { code, output } = await run(...words)
      assert.equal(code, 0)
      assert.match(output, /millstream serve/)
    }
    for (const words of [
      ['serve', '--help'],
      ['help', 'serve'],
    ]) {
      const { code, output } = await run(...words)
      assert.equal(code, 0)
      assert.match(output, /--schema FILE\.json/)
    }
  })

  test('says its version', async () => {
    const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
    assert.equal((await run('--version')).output, `${JSON.parse(manifest).version}\n`)
  })

  for (const [words, sentence] of /** @type {[string[], RegExp][]} */ ([
    [['sevre'], /no command 'sevre'; did you mean serve\?/],
    [['frobnicate'], /no command 'frobnicate'; there are serve and help/],
    [['--verison'], /no option --verison; did you mean --version\?/],
    [['constructor'], /no command 'constructor'/],
    [['serve', '--prot', '1'], /no option --prot; did you mean --port\?/],
    [['serve', '--frobnicate'], /no option --frobnicate\. `millstream serve --help`/],
    [['serve', 'now'], /does not take 'now'/],
    [['serve', '--port'], /needs a value after --port/],
    [['serve', '--port', '--host', 'x'], /needs a value after --port/],
    [['serve', '--port', '70000'], /--port 70000 is no port/],
    [['serve', '--port=1', '--port=2'], /was given --port twice/],
    [['serve', '--token', 'two words'], /a token is made of/],
    [['serve', '--database', 'oracle:x'], /say pglite:memory, or pglite:\.\/folder/],
  ])) {
    test(`refuses \`${words.join(' ')}\` in a sentence`, async () => {
      const { code, output, errors } = await run(...words)
      assert.deepEqual({ code, output }, { code: 2, output: '' })
      assert.match(errors, sentence)
      assert.equal(errors.trim().split('\n').length, 1)
    })
  }
})

describe('millstream serve refuses', () => {
  test('a schema, each refusal on its line', async () => {
    const schema = await file(
      'refused.json',
      JSON.stringify({
        entities: [
          { name: 'order', relation: 'nowhere', events: [{ name: 'changed' }] },
          { name: 'user', subscriptions: [{ name: 'a', rls: true }], eventz: [] },
        ],
      }),
    )
    const { code, output, errors } = await run('serve', '--port', '0', '--schema', schema)
    assert.deepEqual({ code, output }, { code: 1, output: '' })
    assert.match(errors, /^.*refused\.json is refused:\n/)
    assert.match(errors, /^ {2}entities\[1\]\.eventz: .*\(unknown_key\)$/m)
    assert.match(errors, /^ {2}entities\[1\]\.subscriptions\[0\]\.rls: /m)
  })

  test('a schema whose tables are not there, and says how to create them', async () => {
    const schema = await file('t.json', JSON.stringify({ entities: [{ name: 'order' }] }))
    const { code, errors } = await run('serve', '--port', '0', '--schema', schema)
    assert.equal(code, 1)
    assert.match(
      errors,
      /entities\[0\].*\(relation_not_found\)\n {2}--sql FILE\.sql runs a script first/,
    )
  })

  test('files that it cannot read or run', async () => {
    const text = await file('text.json', 'entities:')
    const sql = await file('bad.sql', 'create table t (id int primary key); nonsense')
    for (const [words, sentence] of /** @type {[string[], RegExp][]} */ ([
      [['--schema', join(folder, 'none.json')], /none\.json cannot be read/],
      [['--schema', text], /text\.json is not JSON/],
      [['--sql', sql], /bad\.sql was rolled back: .*syntax error/],
    ])) {
      const { code, errors } = await run('serve', '--port', '0', ...words)
      assert.equal(code, 1)
      assert.match(errors, sentence)
    }
  })

  test('a port that is taken, and says what to do', async () => {
    const other = await occupy()
    const { port } = /** @type {import('node:net').AddressInfo} */ (other.address())
    const { code, errors } = await run('serve', '--port', String(port))
    other.close()
    assert.equal(code, 1)
    assert.match(errors, new RegExp(`^port ${port} is taken by another program: .*--port 0`))
  })
})

describe('millstream serve', () => {
  /** @type {Command} */
  let server

  before(async () => {
    server = await start(['serve', '--port', '0']).ready()
  })

  /** @param {RequestInit & { headers?: Record<string, string> }} init */
  const post = async (init) => {
    const response = await server.ask('/page/sql', { method: 'POST', ...init })
    return [response.status, (await response.json()).error?.code]
  }

  test('prints a line for curl that shows each change', async () => {
    const [, address = ''] = /curl -N (\S+)/.exec(server.output) ?? []
    const reader = new Reader(address)
    await reader.open()
    const { rows } = await server.sql('insert into orders (title) values ($1) returning id', [
      'Tea',
    ])
    await reader.until(({ events }) => events.length === 1)
    assert.deepEqual(reader.subjects, [String(rows[0].id)])
    reader.leave()
  })

  test('prints a line for curl that writes', () => {
    const [, body = ''] = /-d '(.*)'/.exec(server.output) ?? []
    assert.match(JSON.parse(body).sql, /^insert into orders/)
  })

  test('shows its token in the link alone', () => {
    assert.match(server.token, /^[0-9a-f]{32}$/)
    assert.equal(server.output.split(server.token).length, 2)
    assert.equal(server.errors, '')
  })

  test('serves the page with a policy that lets nothing else in', async () => {
    for (const [path, type] of [
      ['/', 'text/html; charset=utf-8'],
      ['/page/page.js', 'text/javascript; charset=utf-8'],
      ['/page/page.css', 'text/css; charset=utf-8'],
    ]) {
      const { status, headers } = await server.ask(path ?? '', { headers: {} })
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), type)
      assert.match(
        headers.get('content-security-policy') ?? '',
        /^default-src 'none'; script-src 'self'/,
      )
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
    }
    for (const path of ['/page/none.js', '/page/..%2fcli%2fserve.js', '/page/../cli/serve.js']) {
      assert.equal((await server.ask(path)).status, 404)
    }
    assert.equal((await server.ask('/', { method: 'POST' })).status, 405)
  })

  test('keeps what is the owner’s from everybody else', async () => {
    for (const path of ['/page/state', '/page/log?after=0', '/page/sql']) {
      for (const authorization of ['', 'Bearer', 'Bearer x', `Basic ${server.token}`]) {
        const response = await server.ask(path, { headers: { authorization } })
        assert.equal(response.status, 401)
        assert.equal(response.headers.get('www-authenticate'), 'Bearer')
        assert.equal((await response.json()).error.code, 'unauthenticated')
      }
    }
  })

  test('tells the tables behind its schema', async () => {
    const { tenant, entities, stats } = await (await server.ask('/page/state')).json()
    assert.equal(tenant, 'default')
    assert.equal(stats.matched, stats.delivered + stats.dropped + stats.pending)
    assert.deepEqual(entities, [
      {
        name: 'order',
        relation: { namespace: 'public', name: 'orders' },
        columns: [
          { name: 'id', type: 'integer', notNull: true, default: 'identity', generated: true },
          { name: 'title', type: 'text', notNull: false, default: null, generated: false },
          {
            name: 'status',
            type: 'text',
            notNull: false,
            default: "'draft'::text",
            generated: false,
          },
          { name: 'total', type: 'numeric(10,2)', notNull: false, default: null, generated: false },
        ],
        key: ['id'],
        subscriptions: [
          { name: 'mine', source: 'entity.order', operations: ['create', 'update', 'delete'] },
        ],
        operations: ['create', 'update', 'delete'],
      },
    ])
  })

  test('tells each commit to whoever waits for the next one', async () => {
    const before = await (await server.ask('/page/log?after=0')).json()
    const { run, last, counted } = before
    const waiting = server.ask(`/page/log?${new URLSearchParams({ run, after: last, counted })}`)
    await server.sql('create table blobs (id bigint primary key, photo bytea)')
    await server.sql(`insert into blobs values (9007199254740993, '\\x00ff')`)
    const { commits, last: next } = await (await waiting).json()
    assert.equal(commits.length, 1)
    assert.deepEqual(commits[0].entries[0].new, { id: '9007199254740993', photo: 'AP8=' })
    assert.equal(commits[0].seq, next)

    const anew = await (await server.ask('/page/log?run=other&after=999')).json()
    assert.equal(anew.last, next)
    assert.equal(anew.commits.at(-1).seq, next)
    assert.equal((await server.ask('/page/log?after=x')).status, 400)
  })

  test('runs SQL, and gives values as the database holds them', async () => {
    assert.deepEqual(
      await server.sql(`select 9007199254740993 as big, timestamptz '2026-01-01 00:00:00.000001Z' as at,
        '{"a":1.10}'::jsonb as j, null as n, 1.50 as d, true as b`),
      {
        columns: ['big', 'at', 'j', 'n', 'd', 'b'],
        rows: [
          {
            big: '9007199254740993',
            at: '2026-01-01 00:00:00.000001+00',
            j: '{"a": 1.10}',
            n: null,
            d: '1.50',
            b: true,
          },
        ],
        more: 0,
        affectedRows: 0,
      },
    )
    assert.equal((await server.sql('select 1 from generate_series(1, 1500)')).more, 500)
    const { error } = await server.sql('nonsense')
    assert.equal(error.code, '42601')
    assert.match(error.message, /syntax error/)
  })

  test('refuses bodies that are none, or too large', async () => {
    const owner = { Authorization: `Bearer ${server.token}` }
    const json = { ...owner, 'Content-Type': 'application/json' }
    assert.deepEqual(await post({ headers: owner, body: 'x' }), [415, 'bad_content_type'])
    assert.deepEqual(await post({ headers: json, body: '{' }), [400, 'bad_json'])
    assert.deepEqual(await post({ headers: json, body: '[]' }), [400, 'bad_body'])
    assert.deepEqual(await post({ headers: json, body: '{"sql":1}' }), [400, 'bad_body'])
    assert.equal((await server.ask('/page/sql')).status, 405)
    const body = JSON.stringify({ sql: ' '.repeat(1024 * 1024) })
    assert.deepEqual(await post({ headers: json, body }), [413, 'body_too_large'])
  })

  test('takes a token and a schema with its tables, and warns where others may connect', async () => {
    const schema = await file(
      'two.json',
      JSON.stringify({
        entities: [
          {
            name: 'user',
            relation: 'users',
            access: { anonymous: true },
            events: [{ name: 'changed', operations: ['create', 'delete'] }],
            subscriptions: [{ name: 'all' }, { name: 'gone', eventtypes: ['delete'] }],
          },
        ],
      }),
    )
    const sql = await file('users.sql', 'create table users (id int primary key)')
    const words = ['--port', '0', '--host', '0.0.0.0', '--schema', schema, '--sql', sql]
    const other = await start(['serve', ...words], { MILLSTREAM_TOKEN: 'of-mine' }).ready()
    assert.equal(other.token, 'of-mine')
    await other.until(({ output }) => /Warning: 0\.0\.0\.0 is open to other machines/.test(output))
    assert.match(other.output, /curl -N 'http:\S+\/subscribe\/user\?name=all'$/m)
    const { entities } = await (await other.ask('/page/state')).json()
    assert.deepEqual(entities[0].subscriptions, [
      { name: 'all', source: 'entity.user', operations: ['create', 'delete'] },
      { name: 'gone', source: 'entity.user', operations: ['delete'] },
    ])
    assert.equal(await other.stop('SIGTERM'), 0)
  })

  test('goes to a free port where its own is taken and none was asked for', async () => {
    const other = await occupy(3000)
    const moved = await start(['serve']).ready()
    assert.match(moved.output, /^Port 3000 is taken by another program, so this is another one\.$/m)
    assert.notEqual(moved.link.port, '3000')
    other.close()
    assert.equal(await moved.stop(), 0)
  })

  test('ends on Ctrl-C with the closing frame on every stream, whoever still waits', async () => {
    const reader = new Reader(new URL('/subscribe/order', server.link).href)
    await reader.open()
    const { run, last, counted } = await (await server.ask('/page/log?after=0')).json()
    const query = new URLSearchParams({ run, after: last, counted: String(counted + 1) })
    const waiting = server.ask(`/page/log?${query}`)
    await (await server.ask('/page/state')).json()
    assert.equal(await server.stop(), 0)
    await reader.over()
    assert.deepEqual(reader.comments.at(-1), 'closing, reconnect')
    assert.ok(reader.text.endsWith(': closing, reconnect\n\n'))
    assert.deepEqual((await (await waiting).json()).commits.at(-1)?.seq ?? last, last)
    assert.equal(server.errors, '')
  })

  test('ends at once on a second Ctrl-C', async () => {
    const stubborn = await start(['serve', '--port', '0']).ready()
    const socket = connect(Number(stubborn.link.port), '127.0.0.1')
    socket.on('error', () => undefined)
    // A request whose end never comes is waited for, but not for ever.
    const token = new URLSearchParams(stubborn.link.hash.slice(1)).get('token')
    const head = ['POST /page/sql HTTP/1.1', 'host: localhost', `authorization: Bearer ${token}`]
    head.push('content-type: application/json', 'content-length: 100', '', '{')
    await new Promise((resolve) => socket.write(head.join('\r\n'), resolve))
    await (await stubborn.ask('/page/state')).json()
    stubborn.child.kill('SIGINT')
    await stubborn.until(({ output }) => output.includes('Closing'))
    const pressing = setInterval(() => stubborn.child.kill('SIGINT'), 50)
    assert.equal(await stubborn.exited, 130)
    clearInterval(pressing)
    socket.destroy()
  })
})

test('an owner is known by the whole token and nothing else', () => {
  const owner = new Owner('abc')
  assert.ok(owner.knows('Bearer abc'))
  assert.ok(owner.knows('bearer abc'))
  for (const other of ['', 'abc', 'Bearer ab', 'Bearer abcd', 'Bearer abc d', 'Bearer ABC']) {
    assert.ok(!owner.knows(other), other)
  }
  assert.ok(!owner.knows(undefined))
})

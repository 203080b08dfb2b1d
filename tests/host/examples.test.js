// The examples that people are shown, run as they stand.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { after, before, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

describe('subscribing', () => {
  /** @type {PGlite} */
  let pglite
  /** @type {PGliteClient} */
  let db

  before(async () => {
    pglite = await PGlite.create()
  })
  after(() => pglite.close())
  beforeEach(async () => {
    await db?.close()
    db = new PGliteClient(pglite)
    await db.exec(`
      drop table if exists users, orders;
      create table users (id int primary key, name text);
      create table orders (id int primary key, title text);
    `)
  })

  test('to all changes, by a callback alone', async () => {
    /** @type {any[]} */
    const logged = []
    const sub = await db.wal.subscribe((commit) => {
      logged.push(commit)
    })
    await db.query(`INSERT INTO orders VALUES (1, 'first')`)
    await sub.abort()
    assert.equal(logged.length, 1)
  })

  test('to some tables, by a selector', async () => {
    /** @type {any[]} */
    const logged = []
    const sub = await db.wal.subscribe({ public: ['users', 'orders'] }, (commit) => {
      logged.push(commit.entries)
    })
    await db.query(`INSERT INTO users VALUES (1, 'Ada'); INSERT INTO orders VALUES (1, 'first')`)
    await sub.abort()
    assert.deepEqual(
      logged.map((entries) => entries.map((/** @type {any} */ entry) => entry.relation.name)),
      [['users', 'orders']],
    )
  })

  for (const selector of /** @type {import('millstream').Selector[]} */ ([
    '*',
    { public: ['users'] },
    { public: ['users', 'orders'] },
    [{ namespace: 'public', name: 'users' }],
  ])) {
    test(`by the selector ${JSON.stringify(selector)}`, async () => {
      let commits = 0
      const sub = await db.wal.subscribe(selector, () => {
        commits += 1
      })
      await db.query(`INSERT INTO users VALUES (1, 'Ada')`)
      await sub.abort()
      assert.equal(commits, 1)
    })
  }

  test('shows commits and entries in these shapes', async () => {
    /** @type {import('millstream').Commit[]} */
    const commits = []
    const sub = await db.wal.subscribe({ public: ['users'] }, (commit) => commits.push(commit))
    await db.query(`INSERT INTO users (id, name) VALUES (1, 'Ada')`)
    await db.query(`UPDATE users SET name = 'Ada Lovelace' WHERE id = 1`)
    await db.query(`DELETE FROM users WHERE id = 1`)
    await sub.abort()
    const relation = { namespace: 'public', name: 'users', keyColumns: ['id'] }
    const entries = [
      { op: 'insert', relation, new: { id: 1, name: 'Ada' } },
      {
        op: 'update',
        relation,
        old: { id: 1, name: 'Ada' },
        new: { id: 1, name: 'Ada Lovelace' },
      },
      { op: 'delete', relation, old: { id: 1, name: 'Ada Lovelace' } },
    ]
    assert.deepEqual(
      commits.map((commit) => commit.entries),
      entries.map((entry) => [entry]),
    )
    for (const commit of commits) {
      assert.deepEqual(Object.keys(commit), ['txId', 'commitTime', 'seq', 'entries'])
      assert.ok(Number.isSafeInteger(commit.txId))
    }
  })

  test('sees two commits, not three, and loses none to an abort right after the last write', async () => {
    /** @type {import('millstream').Commit[]} */
    const commits = []
    const sub = await db.wal.subscribe({ public: ['users'] }, (commit) => commits.push(commit))
    await db.query(`
      INSERT INTO public.users (id, name) VALUES (1, 'Ada');
      UPDATE public.users SET name = 'Ada Lovelace' WHERE id = 1;
    `)
    await db.query(`DELETE FROM public.users WHERE id = 1`)
    await sub.abort()
    assert.deepEqual(
      commits.map((commit) => commit.entries.map((entry) => entry.op)),
      [['insert', 'update'], ['delete']],
    )
  })
})

describe('what the documentation shows', () => {
  test('examples/subscribe.js prints two commits', async () => {
    const { stdout } = await run(process.execPath, ['examples/subscribe.js'], { cwd: root })
    assert.equal(stdout.match(/txId/g)?.length, 2)
  })

  test('examples/filter.js prints the rows that its filter holds for', async () => {
    const { stdout } = await run(process.execPath, ['examples/filter.js'], { cwd: root })
    assert.deepEqual(stdout.match(/id: \d/g), ['id: 2', 'id: 4'])
  })

  test('examples/stream.js prints what it is told: a create, a delete, and the end', async () => {
    const { stdout } = await run(process.execPath, ['examples/stream.js'], { cwd: root })
    const kinds = stdout.match(/(?<=^event: ).*/gm)
    assert.deepEqual(kinds, ['entity.create', 'entity.delete'])
    assert.match(stdout, /: closing, reconnect\n\n$/)
  })

  test("the README's snippets run as they are pasted, one after the other", async () => {
    const readme = await readFile(`${root}README.md`, 'utf8')
    const snippets = [...readme.matchAll(/```js\n(import.*?)```/gs)].map(([, snippet]) => snippet)
    // The port may be somebody's here.
    const pasted = snippets.join('').replace('port: 3000', 'port: 0')
    const asked = `
      const response = await stream.fetch(new Request('http://any.host/subscribe/user'))
      console.log(response.status, response.headers.get('content-type'))
      process.exit()`
    const folder = await mkdtemp(`${root}examples/.readme-`)
    try {
      await writeFile(`${folder}/snippet.js`, `${pasted}${asked}`)
      const { stdout } = await run(process.execPath, [`${folder}/snippet.js`])
      assert.equal(snippets.length, 2)
      assert.equal(stdout.match(/txId/g)?.length, 2)
      assert.match(stdout, /op: 'insert'/)
      assert.match(stdout, /200 text\/event-stream/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

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

  test("the README's first snippet runs as it is pasted", async () => {
    const readme = await readFile(`${root}README.md`, 'utf8')
    const [, snippet = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
    const folder = await mkdtemp(`${root}examples/.readme-`)
    try {
      await writeFile(`${folder}/snippet.js`, snippet)
      const { stdout } = await run(process.execPath, [`${folder}/snippet.js`])
      assert.equal(stdout.match(/txId/g)?.length, 2)
      assert.match(stdout, /op: 'insert'/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('npm start shows the commits of its own writes and of what is typed', async () => {
    const child = run(process.execPath, ['js/cli/start.js'], { cwd: root })
    child.child.stdin?.end(`insert into orders values (9, 'typed', null)\nnonsense\n\\q\n`)
    const { stdout } = await child
    assert.equal(stdout.match(/commit \d+/g)?.length, 4)
    assert.match(stdout, /\+ public\.orders \{"id":9,"title":"typed","status":null\}/)
    assert.match(stdout, /syntax error at or near "nonsense"/)
  })
})

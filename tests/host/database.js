// What every database shows through `db`, as one suite: each database's test starts it with an adapter.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

/**
 * @typedef {object} Adapter
 * @property {string} name
 * @property {string} namespace where unqualified tables are
 * @property {() => Promise<{ db: any, raw: (sql: string) => Promise<unknown>, close: () => Promise<void> }>} open
 *   an empty database, behind a client and past it
 */

/** @param {Adapter} adapter */
export function databaseSuite({ name, namespace, open }) {
  describe(`${name}: db.wal.subscribe`, () => {
    /** @type {any} */
    let db
    /** @type {(sql: string) => Promise<unknown>} */
    let raw
    /** @type {() => Promise<void>} */
    let close
    let n = 0

    before(async () => {
      const opened = await open()
      db = opened.db
      raw = opened.raw
      close = opened.close
    })
    after(() => close())

    /** A table of its own for each test. */
    const table = async (columns = 'id int primary key, name text') => {
      n += 1
      await db.query(`create table t${n} (${columns})`)
      return `t${n}`
    }
    const only = (/** @type {string} */ name) => ({ [namespace]: [name] })
    const relation = (/** @type {string} */ name) => ({ namespace, name, keyColumns: ['id'] })

    /** The commits that `work` makes, seen by a subscription of its own. */
    const commitsOf = async (
      /** @type {unknown} */ selector,
      /** @type {() => Promise<unknown>} */ work,
    ) => {
      /** @type {any[]} */
      const commits = []
      const sub = await db.wal.subscribe(selector, (/** @type {any} */ commit) => {
        commits.push(commit)
      })
      try {
        await work()
      } finally {
        await sub.abort()
      }
      return commits
    }
    const ops = (/** @type {any[]} */ commits) =>
      commits.map((commit) => commit.entries.map((/** @type {any} */ entry) => entry.op))
    const rows = async (/** @type {string} */ name) =>
      (await db.query(`select * from ${name} order by id`)).rows

    test('two queries are two commits, however many statements each has', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        await db.query(`
          INSERT INTO ${t} (id, name) VALUES (1, 'Ada');
          UPDATE ${t} SET name = 'Ada Lovelace' WHERE id = 1;
        `)
        await db.query(`DELETE FROM ${t} WHERE id = 1`)
      })
      const ada = { id: 1, name: 'Ada' }
      const lovelace = { id: 1, name: 'Ada Lovelace' }
      assert.deepEqual(
        commits.map((commit) => commit.entries),
        [
          [
            { op: 'insert', relation: relation(t), new: ada },
            { op: 'update', relation: relation(t), old: ada, new: lovelace },
          ],
          [{ op: 'delete', relation: relation(t), old: lovelace }],
        ],
      )
    })

    test('insert, update and delete in three transactions are three commits', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        await db.query(`insert into ${t} values (1, 'a')`)
        await db.query(`update ${t} set name = 'b'`)
        await db.query(`delete from ${t}`)
      })
      assert.deepEqual(ops(commits), [['insert'], ['update'], ['delete']])
      for (const commit of commits) {
        assert.deepEqual(commit.entries[0].relation, relation(t))
        assert.equal(typeof commit.txId, 'number')
        assert.ok(commit.commitTime > 1_600_000_000_000)
      }
    })

    test('seq strictly grows and txId never repeats', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        for (let id = 0; id < 20; id++) await db.query(`insert into ${t} values (${id}, '')`)
      })
      assert.equal(new Set(commits.map((commit) => commit.txId)).size, 20)
      for (const [index, commit] of commits.entries()) {
        if (index > 0) assert.ok(commit.seq > commits[index - 1].seq)
        if (index > 0) assert.ok(commit.commitTime >= commits[index - 1].commitTime)
      }
    })

    test('one transaction over two tables is one commit, of which each selector gets its own', async () => {
      const [a, b] = [await table(), await table()]
      /** @type {any[][]} */
      const seen = [[], [], []]
      const subs = await Promise.all(
        [{ [namespace]: [a, b] }, only(a), only(b)].map((selector, index) =>
          db.wal.subscribe(selector, (/** @type {any} */ commit) => {
            seen[index]?.push(commit)
          }),
        ),
      )
      await db.query(`insert into ${a} values (1, 'a'); insert into ${b} values (2, 'b')`)
      await Promise.all(subs.map((sub) => sub.abort()))
      const names = seen.map((commits) =>
        commits.map((commit) => commit.entries.map((/** @type {any} */ it) => it.relation.name)),
      )
      assert.deepEqual(names, [[[a, b]], [[a]], [[b]]])
      assert.equal(seen[0]?.[0].txId, seen[1]?.[0].txId)
    })

    test('an explicit BEGIN and COMMIT are one commit', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), () =>
        db.query(`BEGIN; INSERT INTO ${t} VALUES (1, 'a'); UPDATE ${t} SET name = 'b'; COMMIT;`),
      )
      assert.deepEqual(ops(commits), [['insert', 'update']])
    })

    test('an explicit ROLLBACK leaves no row and no commit', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), () =>
        db.query(`BEGIN; INSERT INTO ${t} VALUES (1, 'a'); ROLLBACK;`),
      )
      assert.deepEqual(commits, [])
      assert.deepEqual(await rows(t), [])
    })

    test('a script that fails leaves no row and no commit', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), () =>
        assert.rejects(
          db.query(`insert into ${t} values (1, 'a'); insert into ${t} values (1, 'b')`),
        ),
      )
      assert.deepEqual(commits, [])
      assert.deepEqual(await rows(t), [])
    })

    test('what is rolled back to a savepoint is in no commit', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), () =>
        db.query(`
          begin;
          insert into ${t} values (1, 'kept');
          savepoint s;
          insert into ${t} values (2, 'undone');
          rollback to s;
          insert into ${t} values (3, 'kept');
          commit;
        `),
      )
      assert.deepEqual(
        commits.map((commit) => commit.entries.map((/** @type {any} */ it) => it.new.id)),
        [[1, 3]],
      )
    })

    test('a transaction body is one commit, whose txId is tx.id', async () => {
      const t = await table()
      let id = 0
      const commits = await commitsOf(only(t), () =>
        db.transaction(async (/** @type {any} */ tx) => {
          id = tx.id
          await tx.query(`insert into ${t} values (1, 'a')`)
          await db.query(`insert into ${t} values (2, 'b')`, { tx })
          await tx.query(`update ${t} set name = $1 where id = $2`, ['c', 1])
        }),
      )
      assert.deepEqual(ops(commits), [['insert', 'insert', 'update']])
      assert.equal(commits[0].txId, id)
    })

    test('a transaction body that throws leaves no row and no commit, and its error', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), () =>
        assert.rejects(
          db.transaction(async (/** @type {any} */ tx) => {
            await tx.query(`insert into ${t} values (1, 'a')`)
            throw new Error('changed my mind')
          }),
          /changed my mind/,
        ),
      )
      assert.deepEqual(commits, [])
      assert.deepEqual(await rows(t), [])
    })

    test('begin and commit, begin and rollback', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        const kept = await db.begin()
        await kept.query(`insert into ${t} values (1, 'a')`)
        await kept.commit()
        const undone = await db.begin()
        await undone.query(`insert into ${t} values (2, 'b')`)
        await undone.rollback()
      })
      assert.deepEqual(ops(commits), [['insert']])
    })

    test('what changes no row is no commit', async () => {
      const t = await table()
      const commits = await commitsOf('*', async () => {
        await db.query(`update ${t} set name = 'x' where false`)
        await db.query(`select * from ${t}`)
        await db.query(`create table u${n} (id int primary key)`)
        await db.query('')
      })
      assert.deepEqual(commits, [])
    })

    test('entries keep the order in which the rows changed', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), () =>
        db.query(`insert into ${t} values (3, 'c'), (1, 'a'), (2, 'b')`),
      )
      assert.deepEqual(
        commits[0].entries.map((/** @type {any} */ entry) => entry.new.id),
        [3, 1, 2],
      )
    })

    test('a key that changes is one update, with the old key in old', async () => {
      const t = await table()
      await db.query(`insert into ${t} values (1, 'a')`)
      const commits = await commitsOf(only(t), () => db.query(`update ${t} set id = 2`))
      const [entry] = commits[0].entries
      assert.deepEqual([entry.op, entry.old.id, entry.new.id], ['update', 1, 2])
    })

    test('an upsert that meets a row is an update', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        for (const name of ['a', 'b']) {
          await db.query(
            `insert into ${t} values (1, '${name}') on conflict (id) do update set name = excluded.name`,
          )
        }
      })
      assert.deepEqual(ops(commits), [['insert'], ['update']])
    })

    test('writes past the client are delivered', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        await raw(`insert into ${t} values (1, 'a')`)
        await raw(`insert into ${t} values (2, 'b')`)
      })
      assert.deepEqual(ops(commits), [['insert'], ['insert']])
    })

    test('tables created later reach those who asked for all', async () => {
      const created = `later${n}`
      const commits = await commitsOf('*', async () => {
        await db.query(`create table ${created} (id int primary key, name text)`)
        await db.query(`insert into ${created} values (1, 'a')`)
      })
      assert.deepEqual(commits[0].entries, [
        { op: 'insert', relation: relation(created), new: { id: 1, name: 'a' } },
      ])
    })

    test('a table that is altered shows its columns as they were at each commit', async () => {
      const t = await table()
      const commits = await commitsOf(only(t), async () => {
        await db.query(`insert into ${t} values (1, 'a')`)
        await db.query(`alter table ${t} add column age int`)
        await db.query(`insert into ${t} values (2, 'b', 3)`)
        await db.query(`alter table ${t} drop column name`)
        await db.query(`insert into ${t} values (4, 5)`)
      })
      assert.deepEqual(
        commits.map((commit) => commit.entries[0].new),
        [
          { id: 1, name: 'a' },
          { id: 2, name: 'b', age: 3 },
          { id: 4, age: 5 },
        ],
      )
    })

    test('a selector left out asks for all; so does *', async () => {
      const t = await table()
      /** @type {any[]} */
      const commits = []
      const sub = await db.wal.subscribe((/** @type {any} */ commit) => {
        commits.push(commit)
      })
      await db.query(`insert into ${t} values (1, 'a')`)
      await sub.abort()
      assert.equal(commits[0].entries[0].relation.name, t)
    })

    test('a list of relations asks for the same as the map', async () => {
      const t = await table()
      const commits = await commitsOf([{ namespace, name: t }], () =>
        db.query(`insert into ${t} values (1, 'a')`),
      )
      assert.deepEqual(ops(commits), [['insert']])
    })

    test('commits are frozen all the way down, and shared', async () => {
      const t = await table()
      /** @type {any[]} */
      const seen = []
      const subs = []
      for (let index = 0; index < 2; index++) {
        subs.push(
          await db.wal.subscribe(only(t), (/** @type {any} */ commit) => {
            seen.push(commit)
          }),
        )
      }
      await db.query(`insert into ${t} values (1, 'a')`)
      await Promise.all(subs.map((sub) => sub.abort()))
      const [commit, same] = seen
      assert.equal(commit, same)
      const [entry] = commit.entries
      for (const part of [commit, commit.entries, entry, entry.new, entry.relation]) {
        assert.ok(Object.isFrozen(part))
      }
      assert.ok(Object.isFrozen(entry.relation.keyColumns))
    })

    test('a callback that throws hurts neither the writer nor others, and its error is heard', async () => {
      const t = await table()
      /** @type {unknown[]} */
      const errors = []
      const throwing = await db.wal.subscribe(
        only(t),
        () => {
          throw new Error('no')
        },
        { onError: (/** @type {unknown} */ error) => errors.push(error) },
      )
      const rejecting = await db.wal.subscribe(only(t), async () => {
        throw new Error('later no')
      })
      rejecting.on('error', (/** @type {unknown} */ error) => errors.push(error))
      const commits = await commitsOf(only(t), async () => {
        await db.query(`insert into ${t} values (1, 'a')`)
        await db.query(`insert into ${t} values (2, 'b')`)
      })
      await Promise.all([throwing.abort(), rejecting.abort()])
      assert.equal(commits.length, 2)
      assert.deepEqual(errors.map(String).sort(), [
        'Error: later no',
        'Error: later no',
        'Error: no',
        'Error: no',
      ])
    })

    test('an asynchronous callback gets one commit at a time, in order', async () => {
      const t = await table()
      /** @type {string[]} */
      const steps = []
      const sub = await db.wal.subscribe(only(t), async (/** @type {any} */ commit) => {
        const { id } = commit.entries[0].new
        steps.push(`start ${id}`)
        await db.query('select 1')
        steps.push(`end ${id}`)
      })
      for (const id of [1, 2, 3]) await db.query(`insert into ${t} values (${id}, '')`)
      await sub.abort()
      assert.deepEqual(steps, ['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
    })

    test('a callback that hangs keeps neither the writer nor others waiting', async () => {
      const t = await table()
      const hung = await db.wal.subscribe(only(t), () => new Promise(() => undefined))
      const commits = await commitsOf(only(t), async () => {
        for (let id = 0; id < 200; id++) await db.query(`insert into ${t} values (${id}, '')`)
      })
      assert.equal(commits.length, 200)
      await hung.abort()
      assert.ok(hung.aborted)
    })

    test('a callback that hung for a while goes on where it was', async () => {
      const t = await table()
      /** @type {() => void} */
      let release = () => undefined
      const held = new Promise((resolve) => {
        release = () => resolve(null)
      })
      /** @type {number[]} */
      const ids = []
      const sub = await db.wal.subscribe(only(t), async (/** @type {any} */ commit) => {
        await held
        ids.push(...commit.entries.map((/** @type {any} */ entry) => entry.new.id))
      })
      const wanted = Array.from({ length: 300 }, (_, id) => id)
      for (const id of wanted) await db.query(`insert into ${t} values (${id}, '')`)
      release()
      await sub.abort()
      assert.deepEqual(ids, wanted)
    })

    test('a callback may write, and gets the commit of that after the current one', async () => {
      const t = await table()
      /** @type {string[]} */
      const steps = []
      const sub = await db.wal.subscribe(only(t), async (/** @type {any} */ commit) => {
        const { id } = commit.entries[0].new
        steps.push(`start ${id}`)
        if (id < 3) await db.query(`insert into ${t} values (${id + 1}, '')`)
        steps.push(`end ${id}`)
      })
      await db.query(`insert into ${t} values (1, '')`)
      while (steps.length < 6) await db.query('select 1')
      await sub.abort()
      assert.deepEqual(steps, ['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
    })

    test('after abort nothing is called; a second abort is harmless', async () => {
      const t = await table()
      let calls = 0
      const sub = await db.wal.subscribe(only(t), () => {
        calls += 1
      })
      await db.query(`insert into ${t} values (1, 'a')`)
      await Promise.all([sub.abort(), sub.abort()])
      await sub.abort()
      assert.equal(calls, 1)
      assert.equal(sub.aborted, true)
      await commitsOf(only(t), () => db.query(`insert into ${t} values (2, 'b')`))
      assert.equal(calls, 1)
    })

    test('abort from within the callback ends the subscription there', async () => {
      const t = await table()
      let calls = 0
      /** @type {any} */
      const sub = await db.wal.subscribe(only(t), async () => {
        calls += 1
        await sub.abort()
      })
      const commits = await commitsOf(only(t), async () => {
        await db.query(`insert into ${t} values (1, 'a')`)
        await db.query(`insert into ${t} values (2, 'b')`)
      })
      assert.equal(commits.length, 2)
      assert.equal(calls, 1)
      assert.ok(sub.aborted)
    })

    test('an abort signal ends the subscription', async () => {
      const t = await table()
      const controller = new AbortController()
      const { signal } = controller
      let calls = 0
      const sub = await db.wal.subscribe(only(t), () => (calls += 1), { signal })
      await db.query(`insert into ${t} values (1, 'a')`)
      controller.abort()
      await sub.abort()
      assert.equal(calls, 1)
      await assert.rejects(
        db.wal.subscribe(only(t), () => undefined, { signal }),
        /abort/i,
      )
    })

    test('without a callback, commits are iterated', async () => {
      const t = await table()
      const sub = await db.wal.subscribe(only(t))
      for (const id of [1, 2, 3]) await db.query(`insert into ${t} values (${id}, '')`)
      /** @type {number[]} */
      const ids = []
      for await (const commit of sub) {
        ids.push(commit.entries[0].new.id)
        if (ids.length === 3) break
      }
      assert.deepEqual(ids, [1, 2, 3])
      assert.ok(sub.aborted)
    })

    test('since start replays the log and goes on with what comes', async () => {
      const t = await table()
      await db.query(`insert into ${t} values (1, 'a')`)
      const [first] = await commitsOf(only(t), () => db.query(`insert into ${t} values (2, 'b')`))
      /** @type {number[]} */
      const all = []
      /** @type {number[]} */
      const later = []
      const ids = (/** @type {any} */ commit) =>
        commit.entries.map((/** @type {any} */ entry) => entry.new.id)
      const subs = [
        await db.wal.subscribe(only(t), (/** @type {any} */ it) => all.push(...ids(it)), {
          since: 'start',
        }),
        await db.wal.subscribe(only(t), (/** @type {any} */ it) => later.push(...ids(it)), {
          since: first.seq,
        }),
      ]
      await db.query(`insert into ${t} values (3, 'c')`)
      await Promise.all(subs.map((sub) => sub.abort()))
      assert.deepEqual([all, later], [[1, 2, 3], [3]])
    })

    describe('refuses', () => {
      const refused =
        (/** @type {string} */ code, /** @type {RegExp} */ remedy) =>
        (/** @type {any} */ error) => {
          assert.equal(error.name, 'MillstreamError')
          assert.equal(error.code, code)
          assert.match(error.message, remedy)
          return true
        }
      const ignore = () => undefined

      test('what is no selector, saying what one is', async () => {
        for (const selector of [
          null,
          {},
          42,
          [],
          '',
          true,
          { public: [] },
          { public: 1 },
          [null],
        ]) {
          await assert.rejects(db.wal.subscribe(selector, ignore), refused('bad_selector', /'\*'/))
        }
        await assert.rejects(
          db.wal.subscribe([{ namespace: 'b' }, { a: 'b' }], ignore),
          refused('bad_selector', /index 1/),
        )
      })

      test('a table that is not there, with the nearest that is', async () => {
        const t = await table()
        await assert.rejects(
          db.wal.subscribe({ [namespace]: [`${t}x`] }, ignore),
          refused('relation_not_found', new RegExp(`did you mean ${namespace}.${t}`)),
        )
      })

      test('a callback that is none', async () => {
        for (const callback of [null, 1, 'x', {}]) {
          await assert.rejects(db.wal.subscribe('*', callback), TypeError)
        }
      })

      test('an option it does not know', async () => {
        await assert.rejects(
          db.wal.subscribe('*', ignore, { sinse: 'now' }),
          refused('bad_options', /sinse/),
        )
      })

      test('a position that the log has not reached', async () => {
        for (const since of [1e12, -1, 1.5, 'yesterday', Number.NaN]) {
          await assert.rejects(
            db.wal.subscribe('*', ignore, { since }),
            refused('bad_since', /since is/),
          )
        }
      })

      test('COMMIT, ROLLBACK and BEGIN inside a transaction body', async () => {
        const t = await table()
        for (const sql of ['commit', 'ROLLBACK', 'begin', `select 1; /* x */ End`]) {
          const body = async (/** @type {any} */ tx) => {
            await tx.query(`insert into ${t} values (1, 'a')`)
            await tx.query(sql)
          }
          await assert.rejects(db.transaction(body), refused('transaction_control', /transaction/))
        }
        assert.deepEqual(await rows(t), [])
      })

      test('a script that leaves a transaction open, which is rolled back', async () => {
        const t = await table()
        await assert.rejects(
          db.query(`begin; insert into ${t} values (1, 'a')`),
          refused('transaction_left_open', /begin\(\)/),
        )
        await assert.rejects(db.query('begin'), refused('transaction_left_open', /begin\(\)/))
        assert.deepEqual(await rows(t), [])
      })

      test('a query that waits too long for an open transaction', async () => {
        const t = await table()
        const tx = await db.begin()
        await tx.query(`insert into ${t} values (1, 'a')`)
        await assert.rejects(
          db.query(`insert into ${t} values (2, 'b')`),
          refused('transaction_open', /\{ tx \}/),
        )
        await tx.commit()
        assert.equal((await rows(t)).length, 1)
      })

      test('a transaction that has ended', async () => {
        const tx = await db.begin()
        await tx.commit()
        await assert.rejects(tx.query('select 1'), refused('transaction_closed', /begin/))
        await assert.rejects(tx.commit(), refused('transaction_closed', /begin/))
      })
    })
  })
}

// What the cases share: a database for each file, and commits as short as they can be told.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'

/** @import { Commit, Entry, Selector } from 'millstream' */

/**
 * Opens a database for the tests of one file. Starting it takes a second, so each test makes tables of its
 * own in it rather than one of its own.
 */
export async function open() {
  const pglite = await PGlite.create()
  const db = new PGliteClient(pglite)
  after(async () => {
    await db.close()
    await pglite.close()
  })

  /**
   * The commits that a subscription is given while `work` runs. Aborting hands over all that succeeded.
   *
   * @param {Selector} selector
   * @param {string | (() => unknown)} work a script, or what to do
   * @returns {Promise<Commit[]>}
   */
  async function commitsOf(selector, work) {
    /** @type {Commit[]} */
    const commits = []
    const onError = (/** @type {unknown} */ error) => assert.fail(String(error))
    const sub = await db.wal.subscribe(selector, (commit) => commits.push(commit), { onError })
    try {
      await (typeof work === 'string' ? db.exec(work) : work())
    } finally {
      await sub.abort()
    }
    return commits
  }

  /**
   * Checks which changes a script makes visible, commit by commit.
   *
   * @param {Selector} selector
   * @param {string | (() => unknown)} work
   * @param {unknown[][]} expected for each commit its entries, as `told` tells them
   */
  async function check(selector, work, expected) {
    const commits = await commitsOf(selector, work)
    assert.deepEqual(
      commits.map(({ entries }) => entries.map(told)),
      expected,
    )
    return commits
  }

  return { pglite, db, commitsOf, check }
}

/**
 * An entry in a line: the op, the relation, and the old and new rows it has.
 *
 * @param {Entry} entry
 */
export function told(entry) {
  const rows = []
  if ('old' in entry) rows.push(entry.old)
  if ('new' in entry) rows.push(entry.new)
  return [entry.op, entry.relation.name, ...rows]
}

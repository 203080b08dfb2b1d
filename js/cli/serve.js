// `millstream serve`: streams over an embedded database, and a page that shows them at work.

import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { PGliteClient } from '../database/pglite/client.js'
import { MillstreamError } from '../error.js'
import { Millstream } from '../millstream.js'
import { serve as listen } from '../server/node.js'
import { RecentCommits } from './commits.js'
import { openDatabase } from './database.js'
import * as example from './example.js'
import { makeToken, Owner } from './owner.js'
import { Page } from './page.js'
import { Refusal } from './refusal.js'
import { interrupted } from './signals.js'
import { optionsOf } from './words.js'

/** @import { Commit, Schema } from '../types/index.js' */

const TENANT = 'default'
const PORT = 3000
/** How long clients may take over what they were about. */
const GRACE_MS = 3_000

export const usage = `millstream serve: serves streams over an embedded database, and a page that shows them

  --schema FILE.json   what streams there are; an example of orders unless given
  --sql FILE.sql       is run first, for instance to create the schema's tables
  --database URL       pglite:memory, which is forgotten at the end, or pglite:./folder  [pglite:memory]
  --port PORT          0 for any that is free  [${PORT}, or one that is free]
  --host HOST          who may connect: 127.0.0.1 is this machine alone  [127.0.0.1]
  --token TOKEN        lets its bearer see the log and write; MILLSTREAM_TOKEN says it in
                       private, and a random one is made unless given

  millstream serve --database pglite:./orders
`

/**
 * Serves until it is interrupted.
 *
 * @param {string[]} words
 */
export async function serve(words) {
  const options = read(words)
  const interruption = interrupted()
  /** @type {(() => unknown)[]} What is to be closed, the last first. */
  const opened = []
  try {
    await open(options, opened)
    await interruption
    console.log('\nClosing: streams are told, then the database is. Ctrl-C again ends at once.')
  } finally {
    for (const close of opened.reverse()) await close()
    interruption.forget()
  }
  // A client that is still about something would keep the process.
  process.exit()
}

/** @typedef {ReturnType<typeof read>} Options */

/** @param {string[]} words */
function read(words) {
  const given = optionsOf('millstream serve', words, {
    schema: { type: 'string' },
    sql: { type: 'string' },
    database: { type: 'string' },
    port: { type: 'string' },
    host: { type: 'string' },
    token: { type: 'string' },
  })
  /** @param {string} name */
  const text = (name) => /** @type {string | undefined} */ (given[name])
  const port = text('port')
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536)) {
    throw new Refusal(`--port ${port} is no port: say a number from 0 to 65535`, { exitCode: 2 })
  }
  const token = text('token') ?? (process.env.MILLSTREAM_TOKEN || makeToken())
  if (!/^[\w.~+/-]+=*$/.test(token)) {
    throw new Refusal('a token is made of letters, digits and -._~+/', { exitCode: 2 })
  }
  return {
    schema: text('schema'),
    sql: text('sql'),
    database: text('database') ?? 'pglite:memory',
    port: port === undefined ? null : Number(port),
    host: text('host') ?? '127.0.0.1',
    token,
  }
}

/**
 * @param {Options} options
 * @param {(() => unknown)[]} opened
 */
async function open(options, opened) {
  const given = options.schema === undefined ? null : await readSchema(options.schema)
  const schema = given ?? example.schema
  const sql = options.sql === undefined ? null : await readText(options.sql)

  const pglite = await openDatabase(options.database)
  opened.push(() => pglite.close())
  const db = new PGliteClient(pglite)
  opened.push(() => db.close())
  if (!given) await example.createTable(db)
  if (sql !== null) await runScript(db, sql, options.sql)

  const stream = await openStream(db, schema, options.schema)
  const commits = new RecentCommits()
  await db.wal.subscribe('*', (/** @type {Commit} */ commit) => commits.add(commit), {
    onError: (error) => commits.addGap(error),
  })
  const owner = new Owner(options.token)
  const page = new Page({ db, stream, schema, tenant: TENANT, owner, commits })
  const { server, moved } = await listenAt(stream, options, page.before)
  opened.push(() => Promise.race([server.close(), setTimeout(GRACE_MS, null, { ref: false })]))
  opened.push(() => page.close())
  greet(server.url, options, schema, moved)
}

/** @param {string} file */
async function readText(file) {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${error}`, { cause: error })
  }
}

/**
 * @param {string} file
 * @returns {Promise<Schema>}
 */
async function readSchema(file) {
  try {
    return JSON.parse(await readText(file))
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`${file} is not JSON: ${error}`, { cause: error })
  }
}

/**
 * @param {PGliteClient} db
 * @param {string} sql
 * @param {string} [file]
 */
async function runScript(db, sql, file) {
  try {
    await db.exec(sql)
  } catch (error) {
    throw new Refusal(`${file} was rolled back: ${error}`, { cause: error })
  }
}

/**
 * @param {PGliteClient} db
 * @param {Schema} schema
 * @param {string} [file]
 */
async function openStream(db, schema, file = 'the example') {
  try {
    return await Millstream.open({ db, schema, tenant: TENANT })
  } catch (error) {
    if (!(error instanceof MillstreamError && error.refusals)) throw error
    const lines = error.refusals.map(({ path, message, code }) => `  ${path}: ${message} (${code})`)
    if (error.refusals.some(({ code }) => code === 'relation_not_found')) {
      lines.push('  --sql FILE.sql runs a script first, which may create tables')
    }
    throw new Refusal([`${file} is refused:`, ...lines].join('\n'), { cause: error })
  }
}

/**
 * @param {Millstream} stream
 * @param {Options} options
 * @param {Page['before']} before
 */
async function listenAt(stream, { port, host }, before) {
  const at = (/** @type {number} */ number) => {
    return listen(stream, { port: number, hostname: host, before })
  }
  try {
    return { server: await at(port ?? PORT), moved: false }
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'EADDRINUSE') {
      throw new Refusal(`${host} cannot be listened at: ${error}`, { cause: error })
    }
    if (port === null) return { server: await at(0), moved: true }
    throw new Refusal(
      `port ${port} is taken by another program: end that, or say --port 0 for one that is free`,
      { cause: error },
    )
  }
}

/**
 * @param {string} url
 * @param {Options} options
 * @param {Schema} schema
 * @param {boolean} moved
 */
function greet(url, { host, database, token, schema: file }, schema, moved) {
  const [, place] = /^pglite:(.*)$/s.exec(database) ?? []
  const where = place === 'memory' ? 'in memory' : `in ${place}`
  const [entity] = schema.entities.filter(({ subscriptions = [] }) => subscriptions.length > 0)
  const address = url.replace('0.0.0.0', '127.0.0.1').replace('[::]', '[::1]')
  const lines = [
    `Millstream serves ${file ?? 'an example, orders,'} from PGlite ${where}.`,
    '',
    `  see it     ${address}/#token=${token}`,
  ]
  if (entity) {
    const [first, ...others] = entity.subscriptions ?? []
    const path = `${address}/subscribe/${encodeURIComponent(entity.name)}`
    const name = encodeURIComponent(first?.name ?? '')
    // A shell would take the bare question mark for a pattern.
    lines.push(`  follow it  curl -N ${others.length > 0 ? `'${path}?name=${name}'` : path}`)
  }
  const statement = file ? 'insert into … values …' : example.statement
  lines.push(
    `  write      curl ${address}/page/sql -H 'Content-Type: application/json' \\`,
    `               -H "Authorization: Bearer $MILLSTREAM_TOKEN" -d '${JSON.stringify({ sql: statement })}'`,
    '             (MILLSTREAM_TOKEN is what follows #token= above)',
    '',
    'Ctrl-C ends it.',
  )
  if (moved) lines.unshift(`Port ${PORT} is taken by another program, so this is another one.`)
  if (!isLoopback(host)) {
    lines.push(
      `Warning: ${host} is open to other machines. Whoever has the token may read and write everything.`,
    )
  }
  console.log(lines.join('\n'))
}

/** @param {string} host */
function isLoopback(host) {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

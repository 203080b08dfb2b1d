// The page of `millstream serve` and what it asks for: the schema's tables, the newest commits, and SQL.

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { safe } from './commits.js'
import { answer, bodyOf, HttpRefusal } from './http.js'
import { describeEntities } from './relations.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { PGliteClient } from '../database/pglite/client.js' */
/** @import { Millstream } from '../millstream.js' */
/** @import { Schema } from '../types/index.js' */
/** @import { RecentCommits } from './commits.js' */
/** @import { Owner } from './owner.js' */

/**
 * @typedef {object} Served
 * @property {PGliteClient} db
 * @property {Millstream} stream
 * @property {Schema} schema
 * @property {string} tenant
 * @property {Owner} owner
 * @property {RecentCommits} commits
 */

const LONG_POLL_MS = 20_000
/** How often the counters are looked at while somebody waits for them. */
const COUNT_EVERY_MS = 250
const MAX_WAITING = 100
const MAX_ROWS = 1_000

const FOLDER = new URL('../page/', import.meta.url)
/** @type {Record<string, string>} */
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
const PROTECTION = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

const text = (/** @type {string} */ value) => value
/** Dates and JSON by their type's oid, which stay the database's own text. */
const PARSERS = { 114: text, 1082: text, 1114: text, 1184: text, 3802: text }

export class Page {
  #served
  /** Tells this process from the one before, whose numbers may be others. */
  #run = randomUUID()
  /** @type {Set<() => void>} */
  #waiting = new Set()
  #isClosing = false
  #counts = ''
  #counted = 0
  /** @type {Record<string, { method: string, run: (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => Promise<string | null> }>} */
  #routes = {
    '/page/state': { method: 'GET', run: () => this.#state() },
    '/page/log': { method: 'GET', run: (_, response, query) => this.#log(response, query) },
    '/page/sql': { method: 'POST', run: (request) => this.#sql(request) },
  }

  /** @param {Served} served */
  constructor(served) {
    this.#served = served
  }

  /**
   * Takes what is the page's, and tells whether it was.
   *
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  before = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const route = Object.hasOwn(this.#routes, pathname) ? this.#routes[pathname] : undefined
    const file =
      pathname === '/' ? 'index.html' : /^\/page\/([a-z]+\.(?:js|css))$/.exec(pathname)?.[1]
    if (!route && !file) return false
    answer(request, response, async () => {
      if (!route) return this.#file(file ?? '', request, response)
      if (!this.#served.owner.knows(request.headers.authorization)) {
        const message = 'this needs the owner token, as Authorization: Bearer TOKEN'
        throw new HttpRefusal(401, 'unauthenticated', message, { 'WWW-Authenticate': 'Bearer' })
      }
      allow(request, route.method)
      const body = await route.run(request, response, searchParams)
      if (body === null) return
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
      response.end(body)
    })
    return true
  }

  /** Answers everybody who waits. */
  close() {
    this.#isClosing = true
    for (const wake of this.#waiting) wake()
  }

  /**
   * @param {string} name
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async #file(name, request, response) {
    allow(request, 'GET', 'HEAD')
    const type = TYPES[name.split('.').at(-1) ?? '']
    const bytes = await readFile(new URL(name, FOLDER)).catch(() => {
      throw new HttpRefusal(404, 'not_found', `there is no ${name}`)
    })
    response.writeHead(200, {
      ...PROTECTION,
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': bytes.length,
    })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }

  async #state() {
    const { db, schema, tenant, stream } = this.#served
    const entities = await describeEntities(db, schema)
    return JSON.stringify({ tenant, entities, stats: stream.stats() })
  }

  /**
   * @param {ServerResponse} response
   * @param {URLSearchParams} query
   */
  async #log(response, query) {
    const { commits } = this.#served
    const isSameRun = (query.get('run') ?? this.#run) === this.#run
    const after = isSameRun ? numberIn(query, 'after') : 0
    const counted = isSameRun ? numberIn(query, 'counted') : 0
    this.#count()
    if (commits.last <= after && this.#counted === counted && !this.#isClosing) {
      await this.#wait(response)
    }
    if (response.destroyed) return null
    this.#count()
    const { commits: texts, missed } = commits.after(after)
    const rest = { run: this.#run, last: commits.last, missed: after > 0 && missed }
    return (
      `{"commits":[${texts.join()}],"counted":${this.#counted},"stats":${this.#counts},` +
      JSON.stringify(rest).slice(1)
    )
  }

  /**
   * Waits for the next commit or count, for as long as the client does.
   *
   * @param {ServerResponse} response
   */
  async #wait(response) {
    if (this.#waiting.size >= MAX_WAITING) {
      throw new HttpRefusal(503, 'busy', `${MAX_WAITING} others wait already: try again later`)
    }
    const counted = this.#counted
    await new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        clearInterval(counting)
        callOff()
        response.off('close', wake)
        this.#waiting.delete(wake)
        resolve(null)
      }
      const timer = setTimeout(wake, LONG_POLL_MS)
      const counting = setInterval(() => {
        this.#count()
        if (this.#counted !== counted) wake()
      }, COUNT_EVERY_MS)
      const callOff = this.#served.commits.next(wake)
      response.on('close', wake)
      this.#waiting.add(wake)
    })
  }

  #count() {
    const counts = JSON.stringify(this.#served.stream.stats())
    if (counts === this.#counts) return
    this.#counts = counts
    this.#counted += 1
  }

  /** @param {IncomingMessage} request */
  async #sql(request) {
    const { sql, values } = await bodyOf(request)
    if (typeof sql !== 'string' || !(values === undefined || Array.isArray(values))) {
      const message = 'the body is { "sql": "…", "values": […] }, the values as $1 and so on'
      throw new HttpRefusal(400, 'bad_body', message)
    }
    try {
      const result = await this.#served.db.query(sql, { values, parsers: PARSERS })
      const { rows = [], fields = [], affectedRows = 0 } = result ?? {}
      const columns = fields.map(({ name }) => name)
      const more = Math.max(rows.length - MAX_ROWS, 0)
      return JSON.stringify({ columns, rows: rows.slice(0, MAX_ROWS), more, affectedRows }, safe)
    } catch (error) {
      const { code = 'failed', message, hint } = /** @type {any} */ (error)
      return JSON.stringify({ error: { code, message: String(message ?? error), hint } })
    }
  }
}

/**
 * @param {IncomingMessage} request
 * @param {string[]} methods
 */
function allow({ method = 'GET' }, ...methods) {
  if (methods.includes(method)) return
  const Allow = methods.join(', ')
  throw new HttpRefusal(405, 'method_not_allowed', `this takes ${Allow}`, { Allow })
}

/**
 * @param {URLSearchParams} query
 * @param {string} name
 */
function numberIn(query, name) {
  const given = query.get(name) ?? '0'
  const number = Number(given)
  if (/^\d+$/.test(given) && Number.isSafeInteger(number)) return number
  throw new HttpRefusal(400, `bad_${name}`, `'${name}' is a number from 0, and not ${given}`)
}

// The page: follows the server's log, and hands what it says to the sections.

import { Counters } from './counters.js'
import { byId } from './element.js'
import { Log } from './log.js'
import { NotOwner, Server } from './server.js'
import { Streams } from './streams.js'
import { Writing } from './writing.js'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

const server = new Server()
const streams = new Streams()
const log = new Log()
const counters = new Counters()
const writing = new Writing(server, () => show())

const place = location.host
let isOpened = false
let polling = new AbortController()
document.addEventListener('visibilitychange', () => document.hidden && polling.abort())

/** Shows the schema's tables, and opens the first stream for a newcomer. */
async function show() {
  const { entities, stats } = await server.get('/page/state')
  streams.offer(entities)
  writing.offer(entities)
  counters.show(stats)
  if (!isOpened) {
    isOpened = true
    streams.openFirst()
  }
}

/** Follows the log for as long as the page is open. */
async function follow() {
  /** @type {{ run: string, last: number, counted: number } | null} */
  let reached = null
  let isShown = false
  let wait = FIRST_WAIT_MS
  for (;;) {
    if (!server.hasToken) {
      await askForToken('The log, the counters and writing are for the owner of this server.')
    }
    await seen()
    try {
      polling = new AbortController()
      if (!isShown) await show()
      isShown = true
      const answer = await server.get(
        `/page/log?${new URLSearchParams(queryOf(reached))}`,
        polling.signal,
      )
      say('open', `Connected to ${place}`)
      wait = FIRST_WAIT_MS
      const isAnew = reached !== null && reached.run !== answer.run
      reached = answer
      log.add(answer, isAnew)
      counters.show(answer.stats)
      writing.changed(answer.commits)
    } catch (error) {
      if (polling.signal.aborted) continue
      isShown = false
      if (error instanceof NotOwner) {
        server.use(null)
        say('away', `${place} does not know this token`)
        await askForToken(
          'The server does not know this token. It prints its own when it starts, after #token=.',
        )
      } else {
        say('away', `${place} does not answer. Trying again …`)
        await new Promise((resolve) => setTimeout(resolve, wait))
        wait = Math.min(wait * 2, LONGEST_WAIT_MS)
      }
    }
  }
}

/**
 * @param {{ run: string, last: number, counted: number } | null} reached
 * @returns {Record<string, string>}
 */
function queryOf(reached) {
  if (!reached) return {}
  const { run, last, counted } = reached
  return { run, after: String(last), counted: String(counted) }
}

/** A page that nobody looks at leaves its connection to others: a browser has six of them for a server. */
async function seen() {
  while (document.hidden) {
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true })
    })
  }
}

/**
 * @param {'connecting' | 'open' | 'away'} state
 * @param {string} text
 */
function say(state, text) {
  const status = byId('server')
  if (status.textContent === text) return
  status.dataset.state = state
  status.textContent = text
}

/** @param {string} why */
async function askForToken(why) {
  const form = /** @type {HTMLFormElement} */ (byId('owner'))
  const input = /** @type {HTMLInputElement} */ (byId('token'))
  byId('owner-why').textContent = why
  if (byId('server').dataset.state === 'connecting') say('away', 'The owner token is missing')
  for (const section of [log, counters, writing]) section.lock()
  streams.offer(null)
  form.hidden = false
  await new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault()
      resolve(null)
    }
  })
  server.use(input.value.trim())
  input.value = ''
  form.hidden = true
}

follow()

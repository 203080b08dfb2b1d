// What entity streams take for an event, without sockets: from the log to frames, and on to many readers.

import { EventEmitter } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { createChannel, createSession } from 'better-sse'
import { Boundary, Input, Kind } from '../js/boundary.js'
import { Loop } from '../js/loop.js'
import { Log, MemoryStore } from './log.js'
import { inNs, inUs, times, turns } from './measure.js'

const ROWS = 64
const READINGS = 100
const ROUNDS = 5
const EVENTS = 200

export const schema = {
  entities: [
    {
      name: 'order',
      relation: 'orders',
      access: { anonymous: true },
      events: [{ name: 'changed' }],
      subscriptions: [{ name: 'mine' }],
    },
  ],
}
const facts = {
  method: 'GET',
  path: '/subscribe/order',
  /** @type {[string, string][]} */
  query: [['lifetime', '4h']],
  claims: null,
}

/** The event that the others send: the same fields as ours. */
export function event() {
  const id = '01M2P1R18V26CMVBZ1DC0AS1Z1'
  const time = `${new Date().toISOString().slice(0, 19)}Z`
  const data = {
    id,
    type: 'entity.create',
    entity: 'order',
    operation: 'create',
    subject: '12345',
    time,
    tenant: 'default',
  }
  return { id, data }
}

/** @returns {Promise<[string, string][]>} */
export async function streams() {
  /** @type {[string, string][]} */
  const figures = [['a frame from a log row of ten columns', inNs(await perFrame())]]
  for (const readers of [1, 100, 1_000, 10_000]) {
    const count = `${readers.toLocaleString('en')} reader${readers === 1 ? '' : 's'}`
    const { engine, sinks, responses, emitter, channel } = await fanOut(readers)
    figures.push(
      [`an event to ${count}: the engine, from the log to one record for all`, inUs(engine)],
      [
        `— and on to sinks that count bytes`,
        `${inUs(sinks)}; ${times(emitter / sinks)} as fast as the emitter`,
      ],
      [
        `— EventEmitter, one shared Buffer`,
        `${inUs(emitter)}; the engine is ${times(emitter / engine)} as fast`,
      ],
      [`— and on to responses of Node without a network`, inUs(responses)],
      [
        `— better-sse, the same responses`,
        `${inUs(channel)}; ours are ${times(channel / responses)} as fast, the engine ${times(channel / engine)}`,
      ],
    )
  }
  return figures
}

/** Readings of rows, each framed for one reader. */
async function perFrame() {
  const log = new Log(ROWS * READINGS * (ROUNDS + 1))
  const { boundary, ask } = open(log, 1)
  let [seq, asked] = [0, ask]
  const ms = await turns(ROUNDS, {
    frames: () => {
      for (let readings = 0; readings < READINGS; readings++) {
        const bytes = log.answer({ after: seq, to: seq + ROWS })
        seq += ROWS
        const records = boundary.input(Input.rows, asked, bytes) ?? []
        if (!records.some(({ kind }) => kind === Kind.frames)) throw new Error('no frames')
        asked = askOf(boundary.input(Input.wake, 0, '')) ?? asked
      }
    },
  })
  boundary.close()
  return ms.frames / (ROWS * READINGS)
}

/**
 * Single events to many readers, by us and by others. In milliseconds an event.
 *
 * @param {number} readers
 */
async function fanOut(readers) {
  const log = new Log(EVENTS * (ROUNDS + 1))
  const { boundary, ask } = open(log, readers)
  let [seq, asked] = [0, ask]

  const counting = await looped(log, readers, () => {
    let total = 0
    return {
      respond: () => undefined,
      open: () => undefined,
      write: (bytes) => {
        total += bytes.length
        return total > 0
      },
      end: () => undefined,
      fail: (error) => {
        throw error
      },
    }
  })
  const { NodeSink } = await import('../js/sink/node.js')
  const responding = await looped(log, readers, () => {
    const { request, response } = responseToNobody()
    return new NodeSink(request, response)
  })

  const emitter = new EventEmitter({ captureRejections: false })
  emitter.setMaxListeners(0)
  for (let index = 0; index < readers; index++) {
    let total = 0
    emitter.on('event', (bytes) => {
      total += bytes.length
      return total
    })
  }
  const channel = createChannel()
  for (let index = 0; index < readers; index++) {
    const { request, response } = responseToNobody()
    channel.register(await createSession(request, response, { keepAlive: null }))
  }

  const ms = await turns(ROUNDS, {
    engine: () => {
      for (let events = 0; events < EVENTS; events++) {
        const bytes = log.answer({ after: seq, to: seq + 1 })
        seq += 1
        const records = boundary.input(Input.rows, asked, bytes) ?? []
        const frames = records.find(({ kind }) => kind === Kind.frames)
        if (frames?.subscriptions.length !== readers) throw new Error('not for everybody')
        asked = askOf(boundary.input(Input.wake, 0, '')) ?? asked
      }
    },
    sinks: () => counting.run(),
    responses: () => responding.run(),
    emitter: () => {
      for (let events = 0; events < EVENTS; events++) {
        const { id, data } = event()
        const frame = `id: ${id}\nevent: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
        emitter.emit('event', Buffer.from(frame))
      }
    },
    channel: async () => {
      for (let events = 0; events < EVENTS; events++) {
        const { id, data } = event()
        channel.broadcast(data, data.type, { eventId: id })
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  })
  boundary.close()
  await Promise.all([counting.close(), responding.close()])
  const each = (/** @type {keyof typeof ms} */ name) => ms[name] / EVENTS
  return {
    engine: each('engine'),
    sinks: each('sinks'),
    responses: each('responses'),
    emitter: each('emitter'),
    channel: each('channel'),
  }
}

/**
 * A loop with many streams, of which a run lets one event after the other happen.
 *
 * @param {Log} log
 * @param {number} readers
 * @param {() => import('../js/streams.js').Sink} sink
 */
async function looped(log, readers, sink) {
  const store = new MemoryStore(log)
  const loop = new Loop(store, {}, console.error)
  await loop.openStreams(schema, 'default')
  for (let index = 0; index < readers; index++) loop.request(facts, sink())
  while (loop.streamStatistics().activeSubscriptions < readers) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  let delivered = loop.streamStatistics().delivered
  return {
    run: async () => {
      for (let events = 0; events < EVENTS; events++) {
        store.head += 1
        loop.wake()
        await new Promise((resolve) => setImmediate(resolve))
      }
      const now = loop.streamStatistics().delivered
      if (now - delivered !== readers * EVENTS) throw new Error('not everybody was told of all')
      delivered = now
    },
    close: () => loop.close(),
  }
}

/**
 * An engine with many streams.
 *
 * @param {Log} log
 * @param {number} readers
 */
function open(log, readers) {
  const boundary = new Boundary(
    { quarantine: [] },
    { stopped: () => undefined, begun: () => undefined },
  )
  const declared = { schema, tenant: 'default', namespace: 'public', guarded: [] }
  const first = askOf(boundary.input(Input.open, 0, JSON.stringify(declared))) ?? 0
  boundary.input(Input.rows, first, log.answer({ after: 0, to: 0, withRelations: true }))
  for (let id = 1; id <= readers; id++) {
    boundary.input(Input.request, id, JSON.stringify(facts))
  }
  let ask = 0
  for (let id = 1; id <= readers; id++) {
    ask = askOf(boundary.input(Input.read, id, '{"guarded":false}')) ?? ask
  }
  // The first reading began before the others were there: they need another.
  let records = boundary.input(Input.rows, ask, log.answer({ after: 0, to: 0 }))
  ask = askOf(records) ?? 0
  records = boundary.input(Input.rows, ask, log.answer({ after: 0, to: 0 }))
  return { boundary, ask: askOf(boundary.input(Input.wake, 0, '')) ?? 0 }
}

/** @param {import('../js/boundary.js').Record[] | null} records */
function askOf(records) {
  return records?.find(({ kind }) => kind === Kind.readLog)?.id
}

/** A request and its response, whose connection swallows what is written. */
function responseToNobody() {
  const socket = /** @type {any} */ (
    new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  )
  socket.setTimeout = socket.setKeepAlive = socket.setNoDelay = () => socket
  const request = new IncomingMessage(socket)
  request.method = 'GET'
  request.url = '/'
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  return { request, response }
}

// A server for `sockets.js`: it sends events when it is told to, and reports the processor time that took.

import { createServer } from 'node:http'
import { createChannel, createSession } from 'better-sse'
import { Loop } from '../js/loop.js'
import { Millstream } from '../js/millstream.js'
import { listener } from '../js/server/node.js'
import { Log, MemoryStore } from './log.js'
import { event, schema } from './streams.js'

const EVENTS = 50_000
const [kind] = process.argv.slice(2)
const { listen, count, send } = kind === 'ours' ? await ours() : betterSse()
const server = createServer(listen)
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ port })
})

let before = process.cpuUsage()
process.on('message', async (/** @type {any} */ message) => {
  if (message.await) {
    while (count() < message.await) await turn()
    process.send?.({ ready: true })
  } else if (message.report) {
    const { user, system } = process.cpuUsage(before)
    process.send?.({ us: user + system })
  } else {
    before = process.cpuUsage()
    for (let tick = 0; tick < message.ticks; tick++) {
      send(message.perTick)
      await turn()
    }
  }
})

function turn() {
  return new Promise((resolve) => setTimeout(resolve, 1))
}

async function ours() {
  const store = new MemoryStore(new Log(EVENTS))
  const loop = new Loop(store, {}, console.error)
  const db = /** @type {any} */ ({ connect: async () => loop })
  const stream = await Millstream.open({ db, schema: /** @type {any} */ (schema) })
  return {
    listen: listener(stream),
    count: () => stream.stats().activeSubscriptions,
    send: (/** @type {number} */ events) => {
      store.head += events
      loop.wake()
    },
  }
}

function betterSse() {
  const channel = createChannel()
  return {
    /** @type {import('node:http').RequestListener} */
    listen: async (request, response) => {
      channel.register(await createSession(request, response, { keepAlive: null }))
    },
    count: () => channel.sessionCount,
    send: (/** @type {number} */ events) => {
      for (let index = 0; index < events; index++) {
        const { id, data } = event()
        channel.broadcast(data, data.type, { eventId: id })
      }
    },
  }
}

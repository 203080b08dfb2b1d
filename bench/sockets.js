// What a server's processor takes for a delivery over loopback: ours, and better-sse beside it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { inUs, median, times } from './measure.js'

const CLIENTS = 200
const TICKS = 200
const ROUNDS = 5

/** @returns {Promise<[string, string][]>} */
export async function sockets() {
  /** @type {[string, string][]} */
  const figures = []
  for (const perTick of [1, 8]) {
    const servers = { ours: await start('ours'), better: await start('better-sse') }
    const taken = { ours: /** @type {number[]} */ ([]), better: /** @type {number[]} */ ([]) }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const name of /** @type {const} */ (['ours', 'better'])) {
        const us = await servers[name].run(perTick)
        if (round > 0) taken[name].push(us)
      }
    }
    const each = (/** @type {number[]} */ all) => median(all) / 1e3 / (CLIENTS * TICKS * perTick)
    const [ours, better] = [each(taken.ours), each(taken.better)]
    figures.push([
      `a delivery over loopback, ${CLIENTS} clients, ${perTick} event${perTick > 1 ? 's' : ''} a tick, server's CPU`,
      `${inUs(ours)}; better-sse ${inUs(better)}: ${times(better / ours)}`,
    ])
    for (const server of Object.values(servers)) server.stop()
  }
  return figures
}

/**
 * Starts a server in a process of its own, with clients here.
 *
 * @param {'ours' | 'better-sse'} kind
 */
async function start(kind) {
  const child = fork(new URL('sockets-server.js', import.meta.url), [kind])
  const [{ port }] = await once(child, 'message')
  let received = 0
  let wake = () => undefined
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write('GET /subscribe/order HTTP/1.1\r\nhost: localhost\r\n\r\n')
      // Every frame has one such line.
      let carry = ''
      socket.setEncoding('latin1').on('data', (/** @type {string} */ chunk) => {
        const text = carry + chunk
        received += text.split('\ndata:').length - 1
        carry = text.slice(-5)
        wake()
      })
      return socket
    }),
  )
  child.send({ await: CLIENTS })
  await once(child, 'message')
  return {
    /** @param {number} perTick */
    async run(perTick) {
      received = 0
      const expected = CLIENTS * TICKS * perTick
      child.send({ ticks: TICKS, perTick })
      while (received < expected) {
        await new Promise((resolve) => {
          wake = () => {
            resolve(undefined)
            return undefined
          }
        })
      }
      child.send({ report: true })
      const [{ us }] = await once(child, 'message')
      return us
    },
    stop() {
      for (const socket of clients) socket.destroy()
      child.kill()
    },
  }
}

// `millstream/server`: streams served by Node. Deno, Bun and Workers pass `stream.fetch` to their own server.

import { createServer } from 'node:http'
import { GRACE_MS, NodeSink } from '../sink/node.js'
import { Connections } from './connections.js'

/** @import { IncomingMessage, RequestListener, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @import { Millstream } from '../millstream.js' */
/** @import { ServeOptions, Serving } from '../types/server.js' */

/**
 * A listener for a server of your own, `node:http` or `node:http2`.
 *
 * @param {Millstream} stream
 * @returns {RequestListener}
 */
export function listener(stream) {
  return (request, response) => {
    answer(stream, request, response).catch(() => response.destroy())
  }
}

/**
 * @param {Millstream} stream
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
async function answer(stream, request, response) {
  const { method = 'GET', url = '/', headers, httpVersion } = request
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const lastEventId = headers['last-event-id']
  const sink = new NodeSink(request, response)
  const connection = stream.serve(
    {
      method,
      path: pathname,
      query: [...searchParams],
      lastEventId: Array.isArray(lastEventId) ? lastEventId.join() : lastEventId,
      httpVersion,
      claims: stream.authenticates ? await stream.claims(asRequest(request)) : null,
    },
    sink,
  )
  sink.attach(connection)
}

/**
 * The head of a request, as the web platform has it.
 *
 * @param {IncomingMessage} request
 */
function asRequest({ method, url = '/', headers }) {
  const head = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // HTTP/2 has fields that are no headers.
    if (name.startsWith(':') || value === undefined) continue
    for (const one of [value].flat()) head.append(name, one)
  }
  const host = headers.host ?? headers[':authority'] ?? 'localhost'
  return new Request(new URL(url, `http://${host}`), { method, headers: head })
}

/**
 * Serves streams until it is closed.
 *
 * @param {Millstream} stream
 * @param {ServeOptions} [options]
 * @returns {Promise<Serving>}
 */
export async function serve(stream, { port = 3000, hostname = '127.0.0.1', ...rest } = {}) {
  const listen = listener(stream)
  const connections = new Connections()
  const server = createServer((request, response) => {
    if (connections.before(request, response)) return
    if (!rest.before?.(request, response)) listen(request, response)
  })
  await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, hostname, () => resolve(null))
  })
  const address = /** @type {AddressInfo} */ (server.address())
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    async close() {
      connections.close()
      await stream.close()
      await connections.over(GRACE_MS)
      const closed = new Promise((resolve) => server.close(() => resolve(null)))
      // Whoever is still there has not sent a request, or not taken its answer for too long.
      server.closeAllConnections()
      await closed
    },
  }
}

// Requests to the page's own routes: bodies within a bound, and refusals as JSON.

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

const MAX_BODY = 1024 * 1024

export class HttpRefusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {Record<string, string>} [headers]
   */
  constructor(status, code, message, headers = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/**
 * Lets a route answer; what it throws is the answer otherwise.
 *
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {() => Promise<void>} route
 */
export async function answer(request, response, route) {
  try {
    await route()
  } catch (error) {
    if (response.headersSent) return response.destroy()
    const { status, code, message, headers } =
      error instanceof HttpRefusal
        ? error
        : new HttpRefusal(500, /** @type {any} */ (error).code ?? 'failed', String(error))
    // What is left of a body is not read, so nothing can follow it.
    if (!request.complete) response.setHeader('Connection', 'close')
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...headers,
    })
    response.end(JSON.stringify({ error: { code, message } }))
  }
}

/**
 * The JSON object that a request brings.
 *
 * @param {IncomingMessage} request
 * @returns {Promise<Record<string, unknown>>}
 */
export async function bodyOf(request) {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new HttpRefusal(415, 'bad_content_type', 'the body is application/json')
  }
  /** @type {Buffer[]} */
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY) {
      throw new HttpRefusal(413, 'body_too_large', `the body may have ${MAX_BODY} bytes`)
    }
    chunks.push(chunk)
  }
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (typeof body === 'object' && body !== null) return body
  } catch (error) {
    throw new HttpRefusal(400, 'bad_json', `the body is not JSON: ${error}`)
  }
  throw new HttpRefusal(400, 'bad_body', 'the body is a JSON object')
}

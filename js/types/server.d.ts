// The public face of `millstream/server`.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Millstream } from './index.js'

export interface ServeOptions {
  /** 3000 unless said otherwise; 0 for any that is free. */
  port?: number
  /** 127.0.0.1 unless said otherwise: this machine alone. */
  hostname?: string
  /** Sees each request first, and says whether it has taken it. */
  before?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** A server at work. */
export interface Serving {
  readonly url: string
  readonly port: number
  /** Ends every stream, and then the server. */
  close(): Promise<void>
}

/** Serves streams until it is closed. */
export function serve(stream: Millstream, options?: ServeOptions): Promise<Serving>

/** A listener for a server of your own, `node:http` or `node:http2`. */
export function listener(stream: Millstream): RequestListener

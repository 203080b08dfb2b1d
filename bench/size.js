// How large the engine is, and how long it takes to stand ready.

import { readFile } from 'node:fs/promises'
import { constants, gzipSync } from 'node:zlib'
import { inMs, turns } from './measure.js'

const pkg = new URL('../pkg/', import.meta.url)

/** @returns {Promise<[string, string][]>} */
export async function size() {
  const wasm = await readFile(new URL('engine.wasm', pkg))
  const glue = await readFile(new URL('engine.js', pkg))
  const zipped = (/** @type {Uint8Array} */ bytes) =>
    gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }).length
  const inKb = (/** @type {number} */ bytes) => `${(bytes / 1024).toFixed(1)} KB`

  let generation = 0
  const ms = await turns(15, {
    start: async () => {
      generation += 1
      const { Engine, initSync } = await import(`../pkg/engine.js?${generation}`)
      initSync({ module: wasm })
      new Engine('{}').free()
    },
  })
  return [
    ['engine.wasm, gzipped', inKb(zipped(wasm))],
    ['engine.wasm and its glue, gzipped', inKb(zipped(wasm) + zipped(glue))],
    ['cold start: compile, instantiate, open', inMs(ms.start)],
  ]
}

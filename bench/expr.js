// What a filter takes for a row of ten columns, beside a peer of npm, a peer of crates.io, and a function.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compile } from 'millstream/expr'
import { run } from '../xtask/shell.js'
import { inNs, times, turns } from './measure.js'

const SOURCE = 'payload.status != "draft" && payload.total > 100'
const COUNT = 20_000
const ROUNDS = 9

/** @returns {Promise<[string, string][]>} */
export async function expr() {
  const wasm = await inWasm()
  const row = {
    id: 1,
    title: 'order 1',
    status: 'placed',
    total: 112.5,
    tax: 0.19,
    paid: true,
    note: 'a note, quoted',
    customer: 42,
    at: '2026-01-01 00:00:00+00',
    tags: ['a', 'b'],
  }
  // By a name that is not looked up: the types that it ships do not resolve.
  const { evaluate, parse } = await import(/** @type {string} */ ('cel-js'))
  // One syntax tree for many rows, as its documentation has it.
  const cel = parse(SOURCE)
  if (!cel.isSuccess) throw new Error('cel-js does not read the filter')
  const closure = (/** @type {typeof row} */ payload) =>
    payload.status !== 'draft' && payload.total > 100
  const face = compile(SOURCE, { status: 'text', total: 'numeric' })
  const loop = (/** @type {(row: any) => unknown} */ holds) => () => {
    let held = 0
    for (let index = 0; index < COUNT; index++) if (holds(row)) held += 1
    if (held !== COUNT) throw new Error('the filter did not hold')
  }
  const ms = await turns(ROUNDS, {
    ours: () => wasm.filter(COUNT * 20, 0),
    divided: () => wasm.filter(COUNT * 20, 1),
    crate: () => wasm.peer(COUNT),
    cel: loop((payload) => evaluate(cel.cst, { payload })),
    closure: loop(closure),
    face: loop((payload) => face.matches(payload, { now: 0 })),
    one: () => wasm.index(1, COUNT * 20),
    many: () => wasm.index(10_000, COUNT * 20),
    none: () => wasm.index(10_000, 0),
  })
  const ours = ms.ours / COUNT / 20
  const many = ms.many - ms.none
  return [
    [`\`${SOURCE}\`, in wasm, on cells`, inNs(ours)],
    ['the same, with dividing the row of ten columns into cells', inNs(ms.divided / COUNT / 20)],
    [
      'crate expr-lang 2.1.0, in wasm',
      `${inNs(ms.crate / COUNT)}, ${times(ms.crate / COUNT / ours)}`,
    ],
    ['npm cel-js 0.8.2, on an object', `${inNs(ms.cel / COUNT)}, ${times(ms.cel / COUNT / ours)}`],
    ['a JavaScript function, on an object', inNs(ms.closure / COUNT)],
    ['`millstream/expr` from JavaScript, on an object', inNs(ms.face / COUNT)],
    ['a row against 1 equality filter', inNs(ms.one / COUNT / 20)],
    [
      'a row against 10,000 equality filters, of which one holds',
      `${inNs(many / COUNT / 20)}, ${times(many / ms.one)}`,
    ],
  ]
}

/**
 * The filters of `bench/peer`. What it imports is never called: nothing in it knows of JavaScript.
 *
 * @returns {Promise<Record<'filter' | 'peer' | 'index', (...counts: number[]) => number>>}
 */
async function inWasm() {
  const manifest = fileURLToPath(new URL('peer/Cargo.toml', import.meta.url))
  const target = fileURLToPath(new URL('../target/peer', import.meta.url))
  const words = ['build', '--quiet', '--release', '--target', 'wasm32-unknown-unknown']
  const place = ['--manifest-path', manifest, '--target-dir', target]
  if (!run('cargo', [...words, ...place])) throw new Error('bench/peer does not build')
  const bytes = await readFile(`${target}/wasm32-unknown-unknown/release/peer.wasm`)
  const module = await WebAssembly.compile(bytes)
  /** @type {WebAssembly.Imports} */
  const imports = {}
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] = { ...imports[from], [name]: () => 0 }
  }
  const instance = await WebAssembly.instantiate(module, imports)
  return /** @type {any} */ (instance.exports)
}

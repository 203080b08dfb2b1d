// Checks what `npm publish` would ship: all that package.json promises, and nothing but what users need.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { ask } from './shell.js'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const crate = readFileSync('Cargo.toml', 'utf8')
const [archive] = JSON.parse(ask('npm', ['pack', '--dry-run', '--json']) ?? '[]')
assert(archive, '`npm pack` fails')

/** @type {string[]} */
const shipped = archive.files.map((/** @type {{ path: string }} */ file) => file.path)

/**
 * The files that a value in package.json names.
 * @param {unknown} value
 * @returns {string[]}
 */
function named(value) {
  if (typeof value === 'string') return [value.replace(/^\.\//, '')]
  return Object.values(value ?? {}).flatMap(named)
}

for (const file of [
  ...named(manifest.exports),
  ...named(manifest.imports),
  ...named(manifest.bin),
  'pkg/engine.wasm',
]) {
  assert(shipped.includes(file), `${file} is promised and would not be shipped`)
}
for (const file of shipped) {
  assert.match(file, /^(js|pkg)\/|^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/)
}
assert.match(crate, new RegExp(`^version = "${manifest.version}"$`, 'm'), 'the versions differ')
assert.match(crate, new RegExp(`^license = "${manifest.license}"$`, 'm'), 'the licenses differ')

console.log(`${archive.filename}: ${shipped.length} files, ${archive.size} bytes`)

// Makes ready what a command needs. What is up to date is left alone, in silence.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { ask, filesUnder, run } from './shell.js'

/** What a person has to put right. Its message is all that they are shown. */
export class Stop extends Error {}

const WASM_TARGET = 'wasm32-unknown-unknown'
const TRIES = 3

/** What an engine is made of, and what it is made into. */
const INPUTS = [
  'src',
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  '.cargo',
  'xtask/src',
  'xtask/Cargo.toml',
]
const OUTPUTS = ['engine.js', 'engine.d.ts', 'engine.wasm', 'engine.base64.js']

/** The programs that all else is made with. */
export function requirePrograms() {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Stop(
      `Millstream needs Node 20 or newer, and this is ${process.version}: see nodejs.org.`,
    )
  }
  if (ask('cargo', ['--version']) === undefined) {
    throw new Stop(
      'Millstream is built with Rust, and no cargo answers here: see rustup.rs, then open a new terminal.',
    )
  }
}

/** The npm packages that serving needs. */
export function installForServing() {
  const { devDependencies = {} } = packages('package-lock.json')[''] ?? {}
  const required = Object.keys(devDependencies).map((name) => `node_modules/${name}`)
  // The others are those of a workspace.
  install(required, ['--workspaces=false'])
}

/** All npm packages. */
export function installAll() {
  install(Object.keys(packages('package-lock.json')), [])
}

/**
 * @param {string[]} required where they stand
 * @param {string[]} flags
 */
function install(required, flags) {
  const wanted = packages('package-lock.json')
  const present = packages('node_modules/.package-lock.json')
  const isPresent = (/** @type {string} */ place) => {
    const { integrity, optional } = wanted[place] ?? {}
    // What is optional is for other machines; what has no digest is part of this checkout.
    return optional || !integrity || integrity === present[place]?.integrity
  }
  if (required.every(isPresent)) return

  console.log('Installing npm packages …')
  if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...flags])) {
    throw new Stop('The npm packages cannot be installed, for the reason above.')
  }
}

/**
 * @typedef {object} Package
 * @property {string} [integrity]
 * @property {boolean} [optional]
 * @property {Record<string, string>} [devDependencies]
 *
 * @param {string} lockFile
 * @returns {Record<string, Package>}
 */
function packages(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, 'utf8')).packages : {}
}

/** The engine that ships. */
export function buildEngine() {
  build('the engine', 'pkg', [])
}

/** An engine that a test can stop. */
export function buildFaultyEngine() {
  build('an engine for tests', 'target/fault/pkg', ['--fault'])
}

/**
 * @param {string} what
 * @param {string} folder
 * @param {string[]} flags
 */
function build(what, folder, flags) {
  const digest = digestOf(INPUTS.flatMap(filesUnder))
  const stamp = `target/stamp/${folder.replaceAll('/', '-')}`
  const made = [stamp, ...OUTPUTS.map((file) => `${folder}/${file}`)]
  if (made.every((file) => existsSync(file)) && readFileSync(stamp, 'utf8') === digest) return

  addWasmTarget()
  console.log(`Building ${what}: minutes the first time, then seconds …`)
  if (!run('cargo', ['xtask', 'build', ...flags], { CARGO_TERM_QUIET: 'true' })) {
    throw new Stop('The engine does not build, for the reason above.')
  }
  mkdirSync('target/stamp', { recursive: true })
  writeFileSync(stamp, digest)
}

function addWasmTarget() {
  const libraries = ask('rustc', ['--print', 'target-libdir', '--target', WASM_TARGET])
  if (libraries !== undefined && existsSync(libraries)) return

  console.log(`Adding ${WASM_TARGET} to Rust …`)
  for (let tried = 0; tried < TRIES; tried++) {
    if (run('rustup', ['target', 'add', WASM_TARGET])) return
  }
  throw new Stop(
    `Rust lacks ${WASM_TARGET}, and rustup cannot add it, for the reason above: try again, or see rustup.rs.`,
  )
}

/**
 * One digest of many files. It goes by content, since in a fresh clone times mean nothing.
 * @param {string[]} files
 */
function digestOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(`${file}\0`).update(createHash('sha256').update(readFileSync(file)).digest())
  }
  return hash.digest('hex')
}

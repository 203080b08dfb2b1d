// Other programs and files: run, ask, find.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Past this a program is taken to hang, and is ended. */
const LIMIT_MS = 30 * 60_000

// The programs of npm packages, also for those who do not come by way of npm.
const programs = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
process.env.PATH = [programs, process.env.PATH].join(delimiter)

/** npm's programs are scripts, which Windows starts only by way of its shell. */
const shell = process.platform === 'win32'

/**
 * Runs a program in view of the person, and tells whether it succeeded.
 * @param {string} program
 * @param {string[]} words
 * @param {Record<string, string>} [env]
 */
export function run(program, words, env = {}) {
  const { error, status } = spawnSync(program, words, {
    env: { ...process.env, ...env },
    shell,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: LIMIT_MS,
  })
  if (error) console.error(error.message)
  return status === 0
}

/**
 * What a program answers, or nothing where it is missing or fails.
 * @param {string} program
 * @param {string[]} words
 */
export function ask(program, words) {
  const { status, stdout } = spawnSync(program, words, { encoding: 'utf8', shell })
  return status === 0 ? stdout.trim() : undefined
}

/**
 * Where a program is.
 * @param {string} program
 */
export function find(program) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

/**
 * The files under a folder, in an order of their own; of a file, itself; of nothing, none.
 * @param {string} path
 * @returns {string[]}
 */
export function filesUnder(path) {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`))
}

// The commands of package.json: each makes ready what it needs, then does its work.

import { fileURLToPath, pathToFileURL } from 'node:url'
import { check } from './check.js'
import {
  buildEngine,
  buildFaultyEngine,
  installAll,
  installForServing,
  requirePrograms,
  Stop,
} from './setup.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const [name = '', ...words] = process.argv.slice(2)

/** @type {Record<string, { ready: (() => void)[], work?: () => unknown }>} */
const commands = {
  build: { ready: [buildEngine] },
  start: {
    ready: [installForServing, buildEngine],
    work: () => become('js/cli/millstream.js', 'serve'),
  },
  test: { ready: [installAll, buildEngine, buildFaultyEngine], work: () => check(words) },
  bench: { ready: [installAll, buildEngine], work: () => become('bench/run.js') },
  soak: { ready: [installAll, buildEngine], work: () => become('tests/soak.js') },
}

/**
 * Goes on as another program, in this process, so that signals and the exit code are its own.
 * @param {string} script
 * @param {string[]} first
 */
function become(script, ...first) {
  process.argv = [process.execPath, script, ...first, ...words]
  return import(pathToFileURL(script).href)
}

try {
  const command = commands[name]
  if (!command) throw new Stop(`Say one of: ${Object.keys(commands).join(', ')}.`)
  requirePrograms()
  for (const makeReady of command.ready) makeReady()
  await command.work?.()
} catch (error) {
  if (!(error instanceof Stop)) throw error
  console.error(error.message)
  process.exitCode = 1
}

#!/usr/bin/env node
// `millstream`: the command line.

import { readFileSync } from 'node:fs'
import { Refusal } from './refusal.js'
import { serve, usage as serveUsage } from './serve.js'
import { didYouMean } from './words.js'

const usage = `millstream: every committed change of a database, in order

  millstream serve      serves streams over an embedded database, and a page that shows them
  millstream help       shows this; \`millstream serve --help\` shows more
  millstream --version  says which one this is
`

/** @type {Record<string, { usage: string, run: (words: string[]) => unknown }>} */
const commands = {
  serve: { usage: serveUsage, run: serve },
  help: { usage, run: help },
}

/** @param {string[]} words */
async function main([name, ...words]) {
  if (name === undefined || name === '--help' || name === '-h') return help(words)
  if (name === '--version' || name === '-v') return console.log(version())
  const command = commandOf(name)
  if (words.includes('--help') || words.includes('-h')) return console.log(command.usage)
  await command.run(words)
}

/** @param {string[]} words */
function help([name]) {
  console.log(name === undefined ? usage : commandOf(name).usage)
}

/** @param {string} name */
function commandOf(name) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return command
  const known = Object.keys(commands)
  const what = name.startsWith('-') ? `no option ${name}` : `no command '${name}'`
  const nearest = didYouMean(name, name.startsWith('-') ? ['--help', '--version'] : known)
  throw new Refusal(`millstream has ${what}${nearest || `; there are ${known.join(' and ')}`}`, {
    exitCode: 2,
  })
}

function version() {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return JSON.parse(manifest).version
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = error.exitCode
}

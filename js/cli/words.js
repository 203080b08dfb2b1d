// The words of a command: options are taken or refused, a misspelt one with the nearest there is.

import { parseArgs } from 'node:util'
import { Refusal } from './refusal.js'

/**
 * @typedef {{ type: 'string' | 'boolean', short?: string }} Option
 */

/**
 * The options among the words. Whatever is no option of the command is refused.
 *
 * @param {string} command as it is typed
 * @param {string[]} words
 * @param {Record<string, Option>} options
 * @returns {Record<string, string | true | undefined>}
 */
export function optionsOf(command, words, options) {
  const { tokens } = parseArgs({
    args: words,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  /** @type {Record<string, string | true>} */
  const given = {}
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      throw misuse(command, `does not take '${token.value}'`)
    }
    const { name, rawName, value } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (!option) {
      const names = Object.keys(options).map((it) => `--${it}`)
      throw misuse(command, `has no option ${rawName}${didYouMean(rawName, names)}`)
    }
    if (Object.hasOwn(given, name)) throw misuse(command, `was given ${rawName} twice`)
    if (option.type === 'boolean' && value !== undefined) {
      throw misuse(command, `takes no value with ${rawName}`)
    }
    if (option.type === 'string' && (value === undefined || value === '' || isOption(token))) {
      throw misuse(command, `needs a value after ${rawName}`)
    }
    given[name] = value ?? true
  }
  return given
}

/**
 * Whether the value of an option is the next option, for want of one.
 *
 * @param {{ value?: string, inlineValue?: boolean }} token
 */
function isOption({ value, inlineValue }) {
  return !inlineValue && value?.startsWith('-') === true
}

/**
 * @param {string} command
 * @param {string} what
 */
function misuse(command, what) {
  return new Refusal(`${command} ${what}. \`${command} --help\` shows what it takes.`, {
    exitCode: 2,
  })
}

/**
 * The end of a sentence about a word that nobody knows.
 *
 * @param {string} word
 * @param {string[]} known
 */
export function didYouMean(word, known) {
  const [nearest] = known
    .map((it) => ({ it, distance: distanceOf(word, it) }))
    .filter(({ it, distance }) => distance <= Math.max(2, it.length / 3))
    .sort((a, b) => a.distance - b.distance)
  return nearest ? `; did you mean ${nearest.it}?` : ''
}

/**
 * How many letters must be added, left out or changed to make one word another.
 *
 * @param {string} from
 * @param {string} to
 */
function distanceOf(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

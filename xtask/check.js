// `npm test`: every check that this machine can run, those first that find a fault soonest.

import { Stop } from './setup.js'
import { filesUnder, find, run } from './shell.js'

const WASM = '--target wasm32-unknown-unknown'

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} line what is run
 * @property {RegExp} [tests] the files in `tests/` that it is run on
 * @property {string[]} [needs] programs that not every machine has
 * @property {Record<string, string>} [env]
 */

/** @type {Step[]} */
const steps = [
  { name: 'rust format', line: 'cargo fmt --all --check' },
  { name: 'js format and lint', line: 'biome ci --error-on-warnings --colors=off' },
  { name: 'js types', line: 'tsc --project .tsconfig.json' },
  { name: 'package', line: 'node xtask/package.js' },
  {
    name: 'rust lint',
    line: 'cargo clippy --workspace --all-targets --all-features -- -D warnings',
  },
  { name: 'wasm lint', line: `cargo clippy --all-targets --all-features ${WASM} -- -D warnings` },
  { name: 'rust docs', line: 'cargo doc --no-deps', env: { RUSTDOCFLAGS: '-D warnings' } },
  { name: 'core', line: 'cargo test --all-features' },
  { name: 'wasm in Node', line: `cargo test --tests --all-features ${WASM}` },
  {
    name: 'wasm in Chromium',
    line: `cargo test --tests --all-features ${WASM}`,
    needs: ['chromium', 'chromedriver'],
    env: { WASM_BINDGEN_USE_BROWSER: '1', WASM_BINDGEN_TEST_TIMEOUT: '300' },
  },
  { name: 'host', line: 'node --test --test-reporter=spec', tests: /(?<!browser)\.test\.js$/ },
  {
    name: 'host in Chromium',
    line: 'node --test --test-reporter=spec',
    tests: /browser\.test\.js$/,
    needs: ['chromium'],
  },
]

/** Where Debian has the programs that not every machine has. */
const REMEDY = 'apt-get install chromium chromium-driver'

/**
 * Runs the steps whose names have all these words in them.
 * @param {string[]} words
 */
export function check(words) {
  const chosen = steps.filter(({ name }) => words.every((word) => name.includes(word)))
  if (chosen.length === 0) {
    throw new Stop(`No step has that name. The steps: ${steps.map(({ name }) => name).join(', ')}.`)
  }

  /** @type {Record<'passed' | 'failed' | 'skipped', string[]>} */
  const { passed, failed, skipped } = { passed: [], failed: [], skipped: [] }
  for (const step of chosen) {
    const missing = step.needs?.filter((program) => !find(program)) ?? []
    if (missing.length > 0) {
      // Where everything must be run, what cannot be is a failure.
      const outcome = process.env.CI ? failed : skipped
      outcome.push(`${step.name}: no ${missing.join(', no ')} here (Debian: ${REMEDY})`)
    } else {
      const outcome = isGood(step) ? passed : failed
      outcome.push(step.name)
    }
  }

  console.log('')
  for (const line of failed) console.log(`failed: ${line}`)
  for (const line of skipped) console.log(`skipped: ${line}`)
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : ''
  console.log(`${passed.length} passed, ${failed.length} failed${tail}`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

/**
 * Runs a step in view of the person, between a line that says what and one that says how it went.
 * @param {Step} step
 */
function isGood({ name, line, tests, env }) {
  console.log(`\n── ${name}: ${line}`)
  const files = tests ? filesUnder('tests').filter((file) => tests.test(file)) : []
  if (tests && files.length === 0) console.log(`no file in tests/ is named like ${tests}`)

  const start = performance.now()
  const [program = '', ...words] = line.split(' ')
  const passed = (!tests || files.length > 0) && run(program, [...words, ...files], env)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`── ${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`)
  return passed
}

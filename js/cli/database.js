// The database that a command names: `pglite:memory`, or a folder as `pglite:./dir`.

import { Refusal } from './refusal.js'

/**
 * Opens it.
 *
 * @param {string} url
 * @returns {Promise<import('@electric-sql/pglite').PGlite>}
 */
export async function openDatabase(url) {
  const [, place] = /^pglite:(.+)$/s.exec(url) ?? []
  if (place === undefined) {
    throw new Refusal(
      `--database ${url} is none that this version opens: say pglite:memory, or pglite:./folder`,
      { exitCode: 2 },
    )
  }
  const { PGlite } = await driver()
  try {
    return await PGlite.create(place === 'memory' ? 'memory://' : place)
  } catch (error) {
    throw new Refusal(`PGlite cannot open ${place}: ${error}`, { cause: error })
  }
}

async function driver() {
  try {
    return await import('@electric-sql/pglite')
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Refusal(
      'PGlite is not installed here, and the database runs in it: npm install @electric-sql/pglite',
      { cause: error },
    )
  }
}

// The statements that the forms run. Values travel as text and are cast by the database, so none is changed
// on its way.

/** @import { Entity } from './streams.js' */

/** @typedef {{ column: Entity['columns'][number], value: string | null }} Given */

const MAX_ROWS = 20

/** @param {string} name */
const quoted = (name) => `"${name.replaceAll('"', '""')}"`

/** @param {Entity} entity */
const tableOf = ({ relation }) => `${quoted(relation.namespace)}.${quoted(relation.name)}`

/**
 * @param {Entity} entity
 * @param {Given[]} given
 * @returns {[sql: string, values: (string | null)[]]}
 */
export function insert(entity, given) {
  const key = entity.key.map((name) => `${quoted(name)}::text`).join(', ')
  const table = tableOf(entity)
  if (given.length === 0) return [`insert into ${table} default values returning ${key}`, []]
  const names = given.map(({ column }) => quoted(column.name)).join(', ')
  const values = given.map(({ column }, index) => `$${index + 1}::text::${column.type}`).join(', ')
  return [
    `insert into ${table} (${names}) values (${values}) returning ${key}`,
    given.map(({ value }) => value),
  ]
}

/**
 * @param {Entity} entity
 * @param {Record<string, string | null>} row
 * @param {Given[]} given
 * @returns {[sql: string, values: (string | null)[]]}
 */
export function update(entity, row, given) {
  const sets = given.map(
    ({ column }, index) => `${quoted(column.name)} = $${index + 1}::text::${column.type}`,
  )
  const [where, keys] = byKey(entity, row, given.length)
  return [
    `update ${tableOf(entity)} set ${sets.join(', ')} where ${where}`,
    [...given.map(({ value }) => value), ...keys],
  ]
}

/**
 * @param {Entity} entity
 * @param {Record<string, string | null>} row
 * @returns {[sql: string, values: (string | null)[]]}
 */
export function remove(entity, row) {
  const [where, keys] = byKey(entity, row, 0)
  return [`delete from ${tableOf(entity)} where ${where}`, keys]
}

/**
 * The newest rows, each value as the database writes it.
 *
 * @param {Entity} entity
 */
export function newest(entity) {
  const columns = entity.columns.map(({ name }) => `t.${quoted(name)}::text`).join(', ')
  // By the table's columns, since those of the answer are text.
  const order = entity.key.map((name) => `t.${quoted(name)} desc`).join(', ')
  return `select ${columns} from ${tableOf(entity)} as t order by ${order} limit ${MAX_ROWS}`
}

/**
 * @param {Entity} entity
 * @param {Record<string, string | null>} row
 * @param {number} after how many parameters there are before
 * @returns {[where: string, values: (string | null)[]]}
 */
function byKey({ key, columns }, row, after) {
  const typeOf = (/** @type {string} */ name) => columns.find((it) => it.name === name)?.type
  return [
    key
      .map((name, index) => `${quoted(name)} = $${after + index + 1}::text::${typeOf(name)}`)
      .join(' and '),
    key.map((name) => row[name] ?? null),
  ]
}

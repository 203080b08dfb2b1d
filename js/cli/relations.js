// The tables behind a schema's entities, as the page needs them for its forms.

/** @import { PGliteClient } from '../database/pglite/client.js' */
/** @import { EntitySchema, Schema } from '../types/index.js' */

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} type as SQL writes it
 * @property {boolean} notNull
 * @property {string | null} default
 * @property {boolean} generated whether only the database may give its value
 */

const OPERATIONS = /** @type {const} */ (['create', 'update', 'delete'])

const COLUMNS = `
select a.attname as name,
       format_type(a.atttypid, a.atttypmod) as type,
       a.attnotnull as "notNull",
       case when a.attidentity <> '' then 'identity' else pg_get_expr(d.adbin, d.adrelid) end as default,
       a.attidentity = 'a' or a.attgenerated <> '' as generated,
       array_position(i.indkey::int2[], a.attnum) as place
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
 where n.nspname = $1 and c.relname = $2
 order by a.attnum`

/**
 * @param {PGliteClient} db
 * @param {Schema} schema
 */
export function describeEntities(db, schema) {
  const published = operationsByTopic(schema)
  return Promise.all(
    schema.entities.map(async (entity) => {
      const relation = relationOf(entity)
      const { rows } = await db.query(COLUMNS, [relation.namespace, relation.name])
      const columns = /** @type {(Column & { place: number | null })[]} */ (rows)
      const subscriptions = (entity.subscriptions ?? []).map(({ name, source, eventtypes }) => {
        const topic = source ?? `entity.${entity.name}`
        return { name, source: topic, operations: eventtypes ?? published.get(topic) ?? [] }
      })
      return {
        name: entity.name,
        relation,
        columns: columns.map(({ place, ...column }) => column),
        key: columns
          .filter(({ place }) => place !== null)
          .sort((a, b) => Number(a.place) - Number(b.place))
          .map(({ name }) => name),
        subscriptions,
        operations: OPERATIONS.filter((it) =>
          subscriptions.some(({ operations }) => operations.includes(it)),
        ),
      }
    }),
  )
}

/**
 * The engine reads a relation's name so.
 *
 * @param {EntitySchema} entity
 */
function relationOf({ name, relation = name }) {
  const dot = relation.indexOf('.')
  if (dot < 0) return { namespace: 'public', name: relation }
  return { namespace: relation.slice(0, dot), name: relation.slice(dot + 1) }
}

/** @param {Schema} schema */
function operationsByTopic({ entities }) {
  /** @type {Map<string, readonly string[]>} */
  const topics = new Map()
  for (const { name, events = [] } of entities) {
    for (const { topic = `entity.${name}`, operations = OPERATIONS } of events) {
      topics.set(topic, operations)
    }
  }
  return topics
}

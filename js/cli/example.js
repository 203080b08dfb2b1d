// What `millstream serve` shows where no schema is given: orders, and one stream of them.

/** @import { PGliteClient } from '../database/pglite/client.js' */
/** @import { Schema } from '../types/index.js' */

/** @type {Schema} */
export const schema = {
  entities: [
    {
      name: 'order',
      relation: 'orders',
      access: { anonymous: true },
      events: [{ name: 'changed' }],
      subscriptions: [{ name: 'mine' }],
    },
  ],
}

/** A statement to try. */
export const statement = `insert into orders (title) values ($$Tea$$)`

/**
 * Creates its table where it is not there yet.
 *
 * @param {PGliteClient} db
 */
export function createTable(db) {
  return db.query(`
    create table if not exists orders (
      id int primary key generated always as identity,
      title text,
      status text default 'draft',
      total numeric(10,2)
    )`)
}

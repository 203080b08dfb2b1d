// The public face of `millstream/expr`.

export { MillstreamError } from './index.js'

/** The columns of a relation: each one's name, and its type as PostgreSQL names it. */
export interface Columns {
  readonly [name: string]: string
}

/** What an expression gives. Decimals and dates are text, durations are nanoseconds. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Value[]
  | { readonly [key: string]: Value }

/** What happened to a row, and who asks. */
export interface Entry {
  /** What happened; an insert unless said otherwise. Of a delete, the row is the old one. */
  readonly op?: 'insert' | 'update' | 'delete'
  /** The same in the words of entity streams. */
  readonly operation?: 'create' | 'update' | 'delete'
  /** The row before an update. */
  readonly old?: object
  /** What is known of who asks. */
  readonly claims?: unknown
  /** What `now()` gives, in milliseconds since 1970; the present unless said otherwise. */
  readonly now?: number
}

/** A compiled expression. */
export interface Filter {
  /** The same text for all sources that mean the same but for how they are written. */
  readonly canonical: string
  /** Its value on a row, of which the columns have the values that commits have. */
  evaluate(row: object, entry?: Entry): Value
  /** Whether it holds: false, nil, 0 and the empty string do not. */
  matches(row: object, entry?: Entry): boolean
}

/** Compiles an expression for rows of these columns. What is wrong with it is thrown as `bad_expression`. */
export function compile(source: string, columns: Columns): Filter

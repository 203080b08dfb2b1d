// The public face of `millstream`: what all clients share.

/** What went wrong, as a stable word. */
export type ErrorCode =
  | 'bad_expression'
  | 'bad_options'
  | 'bad_selector'
  | 'bad_since'
  | 'closed'
  | 'database_closed'
  | 'engine_failed'
  | 'expression_failed'
  | 'gap'
  | 'log_corrupt'
  | 'log_unreadable'
  | 'poison'
  | 'relation_not_found'
  | 'transaction_closed'
  | 'transaction_control'
  | 'transaction_left_open'
  | 'transaction_open'
  | 'unfinished'

/** The one error of this package. */
export class MillstreamError extends Error {
  readonly name: 'MillstreamError'
  /** A stable word, for programs. The message is for people and says what to do. */
  readonly code: ErrorCode
  /** What was missed, where the code is `gap`. */
  readonly gap?: Gap
  constructor(code: ErrorCode, message: string, more?: { cause?: unknown; gap?: Gap })
}

/** What a subscription missed: everything up to `seq` that it had not been given. */
export interface Gap {
  /** Why: it is no longer in the log, the log is another one, or an entry could not be taken. */
  readonly reason: 'trimmed' | 'other_log' | 'poison' | 'log_corrupt'
  /** Where the subscription goes on. */
  readonly seq: number
  /** The oldest entry the log holds. */
  readonly oldest: number
  /** The newest entry. */
  readonly head: number
}

/**
 * Which relations: all of them; tables by namespace; or a list of relations. A name with `%` is a pattern as
 * in SQL's LIKE, `*` is every name, and a leading `!` excludes. A table named outright must exist.
 */
export type Selector =
  | '*'
  | { readonly [namespace: string]: string | readonly string[] }
  | readonly { readonly namespace: string; readonly name?: string | readonly string[] }[]

/** A table, or a view. */
export interface Relation {
  readonly namespace: string
  readonly name: string
  /** The primary key's columns in key order; none where the table has no primary key. */
  readonly keyColumns: readonly string[]
}

/**
 * One value of a row. Integers are numbers where those are exact and BigInts where they are not; numerics,
 * dates, times, intervals and whatever else has no exact form in JavaScript are the database's own text; so
 * are infinities and NaN. Bytes are a Uint8Array of the reader's own at each access.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | { readonly [key: string]: Value }

/** A row by its columns. */
export type Row = { readonly [column: string]: Value }

/** One row change. */
export type Entry = {
  readonly relation: Relation
  /** The columns the source did not send; they are absent from the images. */
  readonly unchanged?: readonly string[]
} & (
  | { readonly op: 'insert'; readonly new: Row }
  | { readonly op: 'update'; readonly old: Row; readonly new: Row }
  | { readonly op: 'delete'; readonly old: Row }
  | { readonly op: 'truncate' }
)

/** One transaction's entries, in the order the rows changed. Deeply frozen, and shared by its readers. */
export interface Commit {
  /** The database's own id of the transaction. */
  readonly txId: number
  /** When it was logged: milliseconds since 1970. Never less than an earlier commit's. */
  readonly commitTime: number
  /** The number of its last entry in the log. Strictly grows. */
  readonly seq: number
  readonly entries: readonly Entry[]
  /** Which part this is of a commit too large for one object, from 1. */
  readonly part?: number
  /** Whether more parts follow. */
  readonly partial?: true
}

export interface SubscribeOptions {
  /** Where to begin: after the newest commit (the default), before the oldest, or after a commit's `seq`. */
  since?: 'now' | 'start' | number
  /** Hears of what the callback throws, and of gaps; the same as `sub.on('error', …)` from the start. */
  onError?: (error: unknown) => void
  /** Ends the subscription. */
  signal?: AbortSignal
}

/** A standing request for commits. */
export interface Subscription extends AsyncIterable<Commit> {
  /** Whether it has ended: no callback starts from then on. */
  readonly aborted: boolean
  on(event: 'error', listener: (error: unknown) => void): this
  /**
   * Ends it, after it was given every commit that had succeeded before the call. Waits for a callback that is
   * still at work, but no longer than a second for each; called from the callback itself before its first
   * await, it ends at once.
   */
  abort(): Promise<void>
}

/** `db.wal`: the commits of a database. */
export interface Wal {
  subscribe(selector?: Selector): Promise<Subscription>
  subscribe(
    callback: (commit: Commit) => unknown,
    options?: SubscribeOptions,
  ): Promise<Subscription>
  subscribe(
    selector: Selector | undefined,
    callback: ((commit: Commit) => unknown) | undefined,
    options?: SubscribeOptions,
  ): Promise<Subscription>
  /** Takes everything that Millstream put into the database out of it, and closes the client. */
  uninstall(): Promise<void>
}

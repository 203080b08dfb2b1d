// The public face of `millstream`: what all clients share.

/** What went wrong, as a stable word. */
export type ErrorCode =
  | 'already_open'
  | 'bad_expression'
  | 'bad_options'
  | 'bad_schema'
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
  /** Everything that is wrong with a schema, where the code is `bad_schema`. */
  readonly refusals?: readonly SchemaRefusal[]
  constructor(
    code: ErrorCode,
    message: string,
    more?: { cause?: unknown; gap?: Gap; refusals?: SchemaRefusal[] },
  )
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

/** What streams there are. */
export interface Schema {
  entities: readonly EntitySchema[]
}

/** What happened to a row, as an event says it. */
export type Operation = 'create' | 'update' | 'delete'

/** Something that has rows, and is known by a name of its own. */
export interface EntitySchema {
  /** What clients call it: `GET /subscribe/{name}`. */
  name: string
  /** Its table, `public.<name>` unless said otherwise. It needs a primary key, by which events name rows. */
  relation?: string
  access?: {
    /** Whether callers may read it that `authenticate` does not know. No, unless said otherwise. */
    anonymous?: boolean
  }
  /** What is published. */
  events?: readonly {
    name: string
    /** All, unless said otherwise. */
    operations?: readonly Operation[]
    /** `entity.<name>` unless said otherwise. */
    topic?: string
    format?: 'json'
  }[]
  /** Who may listen. */
  subscriptions?: readonly {
    /** How a client picks it: `?name=`. */
    name: string
    /** A topic that some entity publishes to; `entity.<name>` unless said otherwise. */
    source?: string
    /** Which operations reach a subscriber: all that are published, unless said otherwise. */
    eventtypes?: readonly Operation[]
    scope?: 'tenant'
    rls?: false
    transports?: readonly 'sse'[]
  }[]
}

/** One thing that is wrong with a schema. */
export interface SchemaRefusal {
  readonly code:
    | 'bad_value'
    | 'duplicate_name'
    | 'missing_key'
    | 'no_key'
    | 'relation_not_found'
    | 'row_rules'
    | 'topic_not_published'
    | 'unknown_key'
    | 'unsupported_key'
  /** Where: `entities[0].subscriptions[1].rls`. */
  readonly path: string
  readonly message: string
}

/** A `db` that streams can be opened over. */
export interface Database {
  readonly wal: Wal
  connect(): Promise<unknown>
}

export interface MillstreamOptions {
  db: Database
  /** An object, or the text of a JSON document. */
  schema: Schema | string
  /** Whose streams these are; every event names it. `default` unless said otherwise. */
  tenant?: string
  /**
   * Tells who is asking: the claims of a caller, or null where nobody knows. `exp`, in seconds since 1970, ends
   * its streams; a `tenant` that is another one's is told that there is no such entity. What it throws is
   * reported, and the caller is nobody.
   */
  authenticate?(
    request: Request,
  ): { [claim: string]: unknown } | null | Promise<{ [claim: string]: unknown } | null>
  /** Hears of what `authenticate` throws; `console.error` unless said otherwise. */
  onError?: (error: unknown) => void
}

/** Events counted. `matched` is the sum of the others but `filtered`. */
export interface EventCounts {
  readonly matched: number
  /** Handed to the client's connection. */
  readonly delivered: number
  /** Lost, because the client did not read or left. */
  readonly dropped: number
  readonly filtered: number
  readonly withheld: number
  readonly failed: number
  /** Waiting until the client reads. */
  readonly pending: number
}

export interface StreamStatistics extends EventCounts {
  readonly activeSubscriptions: number
  readonly activeTopics: number
  /** Events that somebody listened to. */
  readonly published: number
  readonly subscriptions: readonly (EventCounts & {
    readonly entity: string
    readonly subscription: string
    readonly active: number
  })[]
}

/** Entity streams over one database, for one tenant. */
export class Millstream {
  private constructor()
  /** Opens them. Everything that is wrong with the schema is refused together, as `bad_schema`. */
  static open(options: MillstreamOptions): Promise<Millstream>
  /** Serves `GET /subscribe/{entity}`. It may be passed along without its object. */
  readonly fetch: (request: Request) => Promise<Response>
  /** What was counted. */
  stats(): StreamStatistics
  /** Ends every stream with its closing frame, and refuses those to come. The database stays open. */
  close(): Promise<void>
}

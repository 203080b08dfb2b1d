// The public face of `millstream/pglite`.

import type { QueryOptions as DriverOptions, PGlite, Results } from '@electric-sql/pglite'
import type { Wal } from './index.js'

export type { Results }

export interface PGliteClientOptions {
  /**
   * How much of the log is kept; 100,000 entries and a day unless said otherwise. It is trimmed when somebody
   * commits: a database at rest keeps what it has.
   */
  retention?: { entries?: number; ageMs?: number }
  /** How many entries the log may hold when nobody trims it; 1,000,000 unless said otherwise. */
  maxLogEntries?: number
  /** Hears of what no subscription listens to; `console.error` unless said otherwise. */
  onError?: (error: unknown) => void
}

/** Who writes, and by which operation: kept with every entry of the transaction. */
export interface Marks {
  actor?: string
  op?: string
  /** The same as `actor`. */
  harness?: string
}

export type TransactionOptions = Marks

export interface QueryOptions extends DriverOptions, Marks {
  /** The parameters of a single statement: `$1` and so on. */
  values?: unknown[]
  /** The transaction to run in. */
  tx?: Transaction
}

/** An open transaction. It holds the connection until it is committed or rolled back. */
export interface Transaction {
  /** The database's own id of it: the `txId` that its commit will have. */
  readonly id: number
  /** Whether it was committed or rolled back. */
  readonly ended: boolean
  query(sql: string, values?: unknown[] | QueryOptions): Promise<Results>
  exec(sql: string, options?: QueryOptions): Promise<Results[]>
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** A `db` over an open PGlite, which stays the caller's to close. */
export class PGliteClient {
  constructor(pglite: PGlite, options?: PGliteClientOptions)
  readonly wal: Wal
  /** Connects, which the first use does by itself. */
  connect(): Promise<unknown>
  /** Runs a statement, or a script of several as one transaction. Gives the last one's result. */
  query(sql: string, values?: unknown[] | QueryOptions): Promise<Results>
  /** Runs a script as one transaction, and gives the result of each statement. */
  exec(sql: string, options?: QueryOptions): Promise<Results[]>
  /** Begins a transaction. A query outside it waits, and fails after five seconds. */
  begin(options?: TransactionOptions): Promise<Transaction>
  /** Runs `body` in a transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Rolls back what is open, ends every subscription after what it still has to be given. */
  close(): Promise<void>
}

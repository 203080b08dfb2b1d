/** What an engine is opened with. What is left out has the engine's default. */
export interface EngineOptions {
  maxReadRows?: number
  maxReadBytes?: number
  maxCommitBytes?: number
  retainEntries?: number
  retainMs?: number
  quarantine?: number[]
}

/** The payload of `Subscribe`. */
export interface Declaration {
  selector: unknown
  since: 'now' | 'start' | number
  /** Whether it had begun before, under an engine that stopped. */
  resumes?: boolean
}

/** The payload of `Script`, when the script may run. */
export interface Script {
  /** Whether it may leave a transaction open. */
  opens: boolean
  /** What to send, one after the other. */
  steps: string[]
}

/** The payload of `Fault`, of a refused `Script` and of `Closed`. */
export interface Refusal {
  code: string
  message: string
}

/** The payload of `Gap`. */
export interface Missed {
  reason: string
  oldest: number
  head: number
}

/**
 * The payload of `Commit`: the commit, whose entries name their relations by number, and the cells that JSON
 * cannot hold, each as its path, its kind (`n` a BigInt from digits, `b` bytes from hex digits) and its text.
 */
export type CommitPayload = [commit: unknown, patches: (string | number)[][]]

/** The payload of `Request`. */
export interface RequestFacts {
  method: string
  /** As it was sent, escapes and all. */
  path: string
  /** Decoded. */
  query: [name: string, value: string][]
  lastEventId?: string
  /** Where the connection is the server's own to keep. */
  httpVersion?: string
  /** Who is asking; null where nobody knows. */
  claims?: { [name: string]: unknown } | null
  /** Whether the one who was asked is closed. */
  closed?: boolean
  /** Where its stream stood under an engine that stopped. */
  resumes?: { seq: number; within: boolean; began: number }
}

/** The payload of `Respond`. */
export interface Answer {
  status: number
  headers: [name: string, value: string][]
  body: string | null
}

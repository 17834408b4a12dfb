import type { EncodedCommit } from './encode.ts'

/** A commit on its way to another thread. The body of its journal is text already: within other text each of its quotes would be written twice and read twice. */
export type HandedOver = readonly [commit: string, body: string]

export function handOver({ journal, queued, tables, isTyped }: EncodedCommit): HandedOver {
  const bare = journal && { n: journal.n, at: journal.at, hash: journal.hash, body: '' }
  return [JSON.stringify({ journal: bare, queued, tables, isTyped } satisfies EncodedCommit), journal?.body ?? '']
}

export function takeOver(commit: string, body: string): EncodedCommit {
  const { journal, queued, tables, isTyped }: EncodedCommit = JSON.parse(commit)
  return { journal: journal && { ...journal, body }, queued, tables, isTyped }
}

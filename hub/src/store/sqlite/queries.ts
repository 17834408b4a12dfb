import type { Tables } from '@stoker/protocol'
import type { Queries, ScanTable } from '../port.ts'

import type { DeferredCommits } from './deferred-commits.ts'
import { findByEnd } from './id-ends.ts'
import type { Reader } from './reader.ts'
import type { Thread } from './thread.ts'

/** Up to this many rows by key are read on the main thread: some µs each, less than waking another thread and copying the answer. */
const ROWS_ON_MAIN = 64

/** Reads of a few rows by key are answered here, all others in the reader thread; commits that were deferred become rows first. */
export function createQueries(rows: Reader, reader: () => Thread<'reader'>, deferred: DeferredCommits | null): Queries {
  const few = (keys: readonly unknown[]) => keys.length <= ROWS_ON_MAIN
  const here = async () => {
    await deferred?.settle()
    return rows
  }
  const there = async () => {
    await deferred?.settle()
    return reader()
  }

  /** Ids and specs never change, so nothing has to become rows for them. */
  async function offers(seqs: readonly number[]): ReturnType<Queries['offers']> {
    const waiting = seqs.map(seq => deferred?.job(seq) ?? null)
    const others = seqs.filter((_, index) => waiting[index] === null)
    const found = few(others) ? rows.offers(others) : await reader().call('offers', others)
    if (others.length === seqs.length) return found
    const bySeq = new Map(found.map(offer => [offer.seq, offer]))
    return seqs.map((seq, index) => waiting[index] ?? bySeq.get(seq)).filter(offer => offer !== undefined)
  }

  return {
    jobById: async id => (await here()).jobById(id),
    jobsBySeq: async seqs => (few(seqs) ? (await here()).jobsBySeq(seqs) : (await there()).call('jobsBySeq', seqs)),
    offers,
    jobByIdEnd: end => findByEnd(end, async (digits, before) => (await there()).call('lookForIdEnd', digits, before)),
    page: async (filter, beforeSeq, limit) => (await there()).call('page', filter, beforeSeq, limit),
    groupById: async id => (await here()).groupById(id),
    groupByIdEnd: async end => (await there()).call('groupByIdEnd', end),
    groups: async (owner, beforeSeq, limit) => (await there()).call('groups', owner, beforeSeq, limit),
    sessions: async (filter, beforeJob, limit) => (await there()).call('sessions', filter, beforeJob, limit),
    schedule: async id => (await here()).schedule(id),
    attemptsOf: async job => (await there()).call('attemptsOf', job),
    journalAfter: async (n, limit) => (await there()).call('journalAfter', n, limit),
    journalFloor: async () => (await there()).call('journalFloor'),
    journalBoundary: async () => (await there()).call('journalBoundary'),
    hasOutput: async (job, epoch, attempt) =>
      deferred?.hasOutput({ job, epoch, attempt }) === true || rows.hasOutput(job, epoch, attempt),
    chunks: async (job, epoch, attempt) => (await there()).call('chunks', job, epoch, attempt),
    sealed: async (job, epoch, attempt) => (await there()).call('sealed', job, epoch, attempt),
    secret: async (owner, name) => (await here()).secret(owner, name),
    auditBefore: async (id, limit) => (await there()).call('auditBefore', id, limit),
    segmentAttempts: async segment => (await there()).call('segmentAttempts', segment),
    pendingDeliveries: async (webhook, limit) => (await there()).call('pendingDeliveries', webhook, limit),
    deliveries: async (webhook, beforeJob, limit) => (await there()).call('deliveries', webhook, beforeJob, limit),
    blobs: async (owner, hashes) =>
      few(hashes) ? (await here()).blobs(owner, hashes) : (await there()).call('blobs', owner, hashes),
    blobUse: async () => (await there()).call('blobUse'),
    artifacts: async (job, attempt, after, limit) => (await there()).call('artifacts', job, attempt, after, limit),
    artifact: async (job, attempt, path) => (await here()).artifact(job, attempt, path),
    artifactUse: async (job, attempt) => (await there()).call('artifactUse', job, attempt),
    expired: async (table, before, after, limit) => (await there()).call('expired', table, before, after, limit),
    emptyGroups: async (before, after, look) => (await there()).call('emptyGroups', before, after, look),
    endedInputs: async limit => (await there()).call('endedInputs', limit),
    unusedBlobs: async (before, after, look) => (await there()).call('unusedBlobs', before, after, look),
    unreferred: async rows => (await there()).call('unreferred', rows),
    blobsAfter: async (owner, sha256, limit) => (await there()).call('blobsAfter', owner, sha256, limit),
    scan: async <T extends ScanTable>(table: T, after: number, limit: number) =>
      (await (await there()).call('scan', table, after, limit)) as readonly Tables[T]['row'][],
  }
}

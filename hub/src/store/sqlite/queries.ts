import type { Tables } from '@stoker/protocol'
import type { Queries, ScanTable } from '../port.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { Thread } from './thread.ts'

/** Up to this many rows by key are read on the main thread: some µs each, less than waking another thread and copying the answer. */
const ROWS_ON_MAIN = 64

/** Reads of a few rows by key are answered here, all others in the reader thread. */
export function createQueries(here: SyncQueries, reader: () => Thread<'reader'>): Queries {
  const few = (keys: readonly unknown[]) => keys.length <= ROWS_ON_MAIN
  return {
    jobById: async id => here.jobById(id),
    jobsBySeq: async seqs => (few(seqs) ? here.jobsBySeq(seqs) : reader().call('jobsBySeq', seqs)),
    offers: async seqs => (few(seqs) ? here.offers(seqs) : reader().call('offers', seqs)),
    jobByIdEnd: async end => reader().call('jobByIdEnd', end),
    page: async (filter, beforeSeq, limit) => reader().call('page', filter, beforeSeq, limit),
    groupById: async id => here.groupById(id),
    groupByIdEnd: async end => reader().call('groupByIdEnd', end),
    groups: async (owner, beforeSeq, limit) => reader().call('groups', owner, beforeSeq, limit),
    schedule: async id => here.schedule(id),
    attemptsOf: async job => reader().call('attemptsOf', job),
    journalAfter: async (n, limit) => reader().call('journalAfter', n, limit),
    journalFloor: async () => reader().call('journalFloor'),
    journalBoundary: async () => reader().call('journalBoundary'),
    chunks: async (job, epoch, attempt) => reader().call('chunks', job, epoch, attempt),
    sealed: async (job, epoch, attempt) => reader().call('sealed', job, epoch, attempt),
    secret: async (owner, name) => here.secret(owner, name),
    auditBefore: async (id, limit) => reader().call('auditBefore', id, limit),
    segmentAttempts: async segment => reader().call('segmentAttempts', segment),
    pendingDeliveries: async (webhook, limit) => reader().call('pendingDeliveries', webhook, limit),
    deliveries: async (webhook, beforeJob, limit) => reader().call('deliveries', webhook, beforeJob, limit),
    blobs: async (owner, hashes) => (few(hashes) ? here.blobs(owner, hashes) : reader().call('blobs', owner, hashes)),
    blobUse: async () => reader().call('blobUse'),
    artifacts: async (job, attempt, after, limit) => reader().call('artifacts', job, attempt, after, limit),
    artifact: async (job, attempt, path) => here.artifact(job, attempt, path),
    artifactUse: async (job, attempt) => reader().call('artifactUse', job, attempt),
    expired: async (table, before, after, limit) => reader().call('expired', table, before, after, limit),
    endedInputs: async limit => reader().call('endedInputs', limit),
    unusedBlobs: async (before, after, look) => reader().call('unusedBlobs', before, after, look),
    unreferred: async rows => reader().call('unreferred', rows),
    blobsAfter: async (owner, sha256, limit) => reader().call('blobsAfter', owner, sha256, limit),
    scan: async <T extends ScanTable>(table: T, after: number, limit: number) =>
      (await reader().call('scan', table, after, limit)) as readonly Tables[T]['row'][],
  }
}

import type { Tables } from '@stoker/protocol'
import type { Queries, ScanTable, Store } from '../port.ts'
import type { SyncQueries } from '../sync-queries.ts'
import { createMemoryTables, type MemoryTables } from './tables.ts'

/** A store that forgets with its process; for tests and for the simulator, which keeps the tables to look into them. */
export function createMemoryStore(tables: MemoryTables = createMemoryTables()): Store {
  let isClosed = false
  return {
    queries: asyncQueries(tables.queries),
    append: async commit => {
      if (isClosed) throw new Error('the store is closed')
      tables.applyCommit(commit)
    },
    journalEnd: async () => tables.journalEnd(),
    recover: async visit => tables.recover(visit),
    idempotency: async (owner, key) => tables.idempotency(owner, key),
    jobRefs: async ids => tables.jobRefs(ids),
    prune: async limits => tables.prune(limits),
    backup: async toFile => {
      throw new Error(`a store in memory has no file to copy to ${toFile}: backups need a durable store`)
    },
    close: async () => {
      isClosed = true
    },
  }
}

function asyncQueries(queries: SyncQueries): Queries {
  return {
    jobById: async id => queries.jobById(id),
    jobsBySeq: async seqs => queries.jobsBySeq(seqs),
    jobByIdEnd: async end => queries.jobByIdEnd(end),
    page: async (filter, beforeSeq, limit) => queries.page(filter, beforeSeq, limit),
    groupById: async id => queries.groupById(id),
    groupByIdEnd: async end => queries.groupByIdEnd(end),
    groups: async (owner, beforeSeq, limit) => queries.groups(owner, beforeSeq, limit),
    sessions: async (filter, beforeJob, limit) => queries.sessions(filter, beforeJob, limit),
    schedule: async id => queries.schedule(id),
    attemptsOf: async job => queries.attemptsOf(job),
    offers: async seqs => queries.offers(seqs),
    journalAfter: async (n, limit) => queries.journalAfter(n, limit),
    journalFloor: async () => queries.journalFloor(),
    journalBoundary: async () => queries.journalBoundary(),
    hasOutput: async (job, epoch, attempt) => queries.hasOutput(job, epoch, attempt),
    chunks: async (job, epoch, attempt) => queries.chunks(job, epoch, attempt),
    sealed: async (job, epoch, attempt) => queries.sealed(job, epoch, attempt),
    secret: async (owner, name) => queries.secret(owner, name),
    auditBefore: async (id, limit) => queries.auditBefore(id, limit),
    segmentAttempts: async segment => queries.segmentAttempts(segment),
    pendingDeliveries: async (webhook, limit) => queries.pendingDeliveries(webhook, limit),
    deliveries: async (webhook, beforeJob, limit) => queries.deliveries(webhook, beforeJob, limit),
    blobs: async (owner, hashes) => queries.blobs(owner, hashes),
    blobUse: async () => queries.blobUse(),
    artifacts: async (job, attempt, after, limit) => queries.artifacts(job, attempt, after, limit),
    artifact: async (job, attempt, path) => queries.artifact(job, attempt, path),
    artifactUse: async (job, attempt) => queries.artifactUse(job, attempt),
    expired: async (table, before, after, limit) => queries.expired(table, before, after, limit),
    emptyGroups: async (before, after, look) => queries.emptyGroups(before, after, look),
    endedInputs: async limit => queries.endedInputs(limit),
    unusedBlobs: async (before, after, look) => queries.unusedBlobs(before, after, look),
    unreferred: async rows => queries.unreferred(rows),
    blobsAfter: async (owner, sha256, limit) => queries.blobsAfter(owner, sha256, limit),
    scan: async <T extends ScanTable>(table: T, after: number, limit: number): Promise<readonly Tables[T]['row'][]> =>
      queries.scan(table, after, limit),
  }
}

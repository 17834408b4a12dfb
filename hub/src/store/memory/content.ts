import type { SyncQueries } from '../sync-queries.ts'
import type { MemoryRows } from './tables.ts'

/** The queries about content and artifacts. */
export function createMemoryContent(
  rows: MemoryRows,
): Pick<SyncQueries, 'blobs' | 'blobUse' | 'artifacts' | 'artifact' | 'artifactUse'> {
  const ofAttempt = (job: number, attempt: number) => rows.artifact.under(job).filter(row => row.attempt === attempt)
  return {
    blobs: (owner, hashes) => hashes.flatMap(sha256 => rows.blob.get(rows.blob.keyOf({ owner, sha256 })) ?? []),
    blobUse: () => {
      const use = new Map<string, number>()
      for (const { owner, size } of rows.blob.ordered()) use.set(owner, (use.get(owner) ?? 0) + size)
      return [...use].map(([owner, bytes]) => ({ owner, bytes }))
    },
    artifacts: (job, attempt, after, limit) =>
      ofAttempt(job, attempt)
        .filter(row => row.path > after)
        .slice(0, limit),
    artifact: (job, attempt, path) => rows.artifact.get(rows.artifact.keyOf({ job, attempt, path })) ?? null,
    artifactUse: (job, attempt) => {
      const own = ofAttempt(job, attempt)
      return { count: own.length, bytes: own.reduce((sum, { size }) => sum + size, 0) }
    },
  }
}

import type { SyncQueries } from '../sync-queries.ts'
import type { Connection } from './connection.ts'

/** The queries about content and artifacts. */
export function createContentReader(
  db: Connection,
): Pick<SyncQueries, 'blobs' | 'blobUse' | 'artifacts' | 'artifact' | 'artifactUse'> {
  const blob = db.prepare('SELECT * FROM blob WHERE owner = ? AND sha256 = ?')
  const use = db.prepare('SELECT owner, sum(size) AS bytes FROM blob GROUP BY owner ORDER BY owner')
  const some = db.prepare('SELECT * FROM artifact WHERE job = ? AND attempt = ? AND path > ? ORDER BY path LIMIT ?')
  const one = db.prepare('SELECT * FROM artifact WHERE job = ? AND attempt = ? AND path = ?')
  const sum = db.prepare(
    'SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM artifact WHERE job = ? AND attempt = ?',
  )
  return {
    blobs: (owner, hashes) => hashes.map(sha256 => blob.get(owner, sha256)).filter(row => row !== undefined),
    blobUse: () => use.all(),
    artifacts: (job, attempt, after, limit) => some.all(job, attempt, after, limit),
    artifact: (job, attempt, path) => one.get(job, attempt, path) ?? null,
    artifactUse: (job, attempt) => sum.get(job, attempt),
  }
}

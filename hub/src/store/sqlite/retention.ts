import type { BlobRow, GroupRow } from '@stoker/protocol'
import { emptyAmong } from '../empty-groups.ts'
import type { BlobPlace, ScanTable } from '../port.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { Connection } from './connection.ts'

/** The bytes a row speaks of. */
const BYTES: { readonly [T in ScanTable]: string } = {
  job: '0',
  attempt: '0',
  chunk: 'sum(t.length)',
  sealed: 'sum(t.length)',
  artifact: 'sum(t.size)',
}
const UNREFERRED = `NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.sha256 = blob.sha256 AND artifact.owner = blob.owner)
  AND NOT EXISTS (SELECT 1 FROM input WHERE input.sha256 = blob.sha256 AND input.owner = blob.owner)`

/** The queries about what is past its retention. */
export function createRetentionReader(
  db: Connection,
): Pick<SyncQueries, 'expired' | 'emptyGroups' | 'endedInputs' | 'unusedBlobs' | 'unreferred' | 'blobsAfter'> {
  const span = db.prepare('SELECT min(seq) AS first, max(seq) AS last FROM job')
  const submitted = db.prepare('SELECT seq, submittedAt FROM job WHERE seq >= ? ORDER BY seq LIMIT 1')
  const groups = db.prepare('SELECT * FROM jobGroup WHERE firstSeq > ? ORDER BY firstSeq LIMIT ?')
  const member = db.prepare('SELECT 1 FROM job WHERE seq >= ? AND seq < ?')
  const inputs = db.prepare(`SELECT input.* FROM input JOIN job ON job.seq = input.job
    WHERE job.endedAt IS NOT NULL ORDER BY input.job, input.sha256 LIMIT ?`)
  const looked = db.prepare(`SELECT * FROM blob INDEXED BY blob_used
    WHERE (usedAt, owner, sha256) > (?, ?, ?) AND usedAt < ? ORDER BY usedAt, owner, sha256 LIMIT ?`)
  const isUnreferred = db.prepare(`SELECT 1 FROM blob WHERE owner = ? AND sha256 = ? AND ${UNREFERRED}`)
  const after = db.prepare('SELECT * FROM blob WHERE (owner, sha256) > (?, ?) ORDER BY owner, sha256 LIMIT ?')

  /** Jobs come in order of time, so none submitted later can have ended before: the walk stays in what is old. */
  function lastBefore(time: number): number {
    let { first, last }: { first: number | null; last: number | null } = span.get()
    if (first === null || last === null) return -1
    while (first <= last) {
      const middle: number = Math.floor((first + last) / 2)
      const found: { readonly seq: number; readonly submittedAt: number } | undefined = submitted.get(middle)
      if (found === undefined || found.submittedAt >= time) last = middle - 1
      else first = found.seq + 1
    }
    return last
  }

  function expired(table: ScanTable, endedBefore: number, from: number, limit: number) {
    const key = table === 'job' ? 'seq' : 'job'
    const join = table === 'job' ? '' : 'JOIN job ON job.seq = t.job'
    const ended = table === 'job' ? 't' : 'job'
    return db
      .prepare(
        `SELECT t.${key} AS job, count(*) AS count, ${BYTES[table]} AS bytes FROM ${table} AS t ${join}
          WHERE t.${key} > ? AND t.${key} <= ? AND ${ended}.endedAt < ? GROUP BY t.${key} ORDER BY t.${key} LIMIT ?`,
      )
      .all(from, lastBefore(endedBefore), endedBefore, limit)
  }

  function emptyGroups(endedBefore: number, afterSeq: number, look: number) {
    const seen: readonly GroupRow[] = groups.all(afterSeq, look)
    return emptyAmong(seen, endedBefore, look, (from, to) => member.get(from, to) !== undefined)
  }

  const unreferred = (rows: readonly BlobRow[]) =>
    rows.filter(({ owner, sha256 }) => isUnreferred.get(owner, sha256) !== undefined)

  function unusedBlobs(usedBefore: number, place: BlobPlace | null, look: number) {
    const { usedAt, owner, sha256 } = place ?? { usedAt: -1, owner: '', sha256: '' }
    const seen: readonly BlobRow[] = looked.all(usedAt, owner, sha256, usedBefore, look)
    const last = seen.at(-1)
    return { rows: unreferred(seen), next: seen.length < look || last === undefined ? null : last }
  }

  return {
    expired,
    emptyGroups,
    endedInputs: limit => inputs.all(limit),
    unusedBlobs,
    unreferred,
    blobsAfter: (owner, sha256, limit) => after.all(owner, sha256, limit),
  }
}

import type { BlobRow } from '@stoker/protocol'
import { emptyAmong } from '../empty-groups.ts'
import type { BlobPlace, Expired, ScanTable } from '../port.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { MemoryRows } from './tables.ts'

/** The queries about what is past its retention. */
export function createMemoryRetention(
  rows: MemoryRows,
): Pick<SyncQueries, 'expired' | 'emptyGroups' | 'endedInputs' | 'unusedBlobs' | 'unreferred' | 'blobsAfter'> {
  const endedAt = (job: number) => rows.job.get(job)?.endedAt ?? null

  function partsOf(table: ScanTable): readonly { readonly job: number; readonly bytes: number }[] {
    if (table === 'job') return rows.job.ordered().map(({ seq }) => ({ job: seq, bytes: 0 }))
    if (table === 'attempt') return rows.attempt.ordered().map(({ job }) => ({ job, bytes: 0 }))
    if (table === 'artifact') return rows.artifact.ordered().map(({ job, size }) => ({ job, bytes: size }))
    return rows[table].ordered().map(({ job, length }) => ({ job, bytes: length }))
  }

  function expired(table: ScanTable, endedBefore: number, after: number, limit: number): readonly Expired[] {
    const found = new Map<number, { job: number; count: number; bytes: number }>()
    for (const { job, bytes } of partsOf(table)) {
      const end = endedAt(job)
      if (job <= after || end === null || end >= endedBefore) continue
      const sum = found.get(job) ?? { job, count: 0, bytes: 0 }
      found.set(job, { job, count: sum.count + 1, bytes: sum.bytes + bytes })
    }
    return [...found.values()].slice(0, limit)
  }

  function emptyGroups(endedBefore: number, afterSeq: number, look: number) {
    const seen = rows.jobGroup
      .ordered()
      .filter(({ firstSeq }) => firstSeq > afterSeq)
      .sort((a, b) => a.firstSeq - b.firstSeq)
      .slice(0, look)
    const jobs = rows.job.ordered()
    return emptyAmong(seen, endedBefore, look, (from, to) => jobs.some(({ seq }) => seq >= from && seq < to))
  }

  function unreferred(some: readonly BlobRow[]): readonly BlobRow[] {
    const used = new Set([...rows.artifact.ordered(), ...rows.input.ordered()].map(nameOf))
    return some.filter(row => rows.blob.get(rows.blob.keyOf(row)) !== undefined && !used.has(nameOf(row)))
  }

  function unusedBlobs(usedBefore: number, after: BlobPlace | null, look: number) {
    const seen = rows.blob
      .ordered()
      .filter(row => row.usedAt < usedBefore && (after === null || compare(row, after) > 0))
      .sort(compare)
      .slice(0, look)
    return { rows: unreferred(seen), next: seen.length < look ? null : (seen.at(-1) ?? null) }
  }

  return {
    expired,
    emptyGroups,
    endedInputs: limit =>
      rows.input
        .ordered()
        .filter(({ job }) => endedAt(job) !== null)
        .slice(0, limit),
    unusedBlobs,
    unreferred,
    blobsAfter: (owner, sha256, limit) =>
      rows.blob
        .ordered()
        .filter(row => row.owner > owner || (row.owner === owner && row.sha256 > sha256))
        .slice(0, limit),
  }
}

function nameOf({ owner, sha256 }: Pick<BlobRow, 'owner' | 'sha256'>): string {
  return `${owner} ${sha256}`
}

function compare(a: BlobPlace, b: BlobPlace): number {
  if (a.usedAt !== b.usedAt) return a.usedAt - b.usedAt
  return nameOf(a) < nameOf(b) ? -1 : nameOf(a) === nameOf(b) ? 0 : 1
}

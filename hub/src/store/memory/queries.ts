import type { JobRow, Tables } from '@stoker/protocol'
import { hasIdEnd, parseIdEnd, SHORTEST_END } from '../id-end.ts'
import { drivingPart, MOST_LOOKED_AT, pageOf } from '../page-bounds.ts'
import type { JobFilter, Page, ScanTable } from '../port.ts'
import { cellsOf, KEYS } from '../row-keys.ts'
import type { SyncQueries } from '../sync-queries.ts'
import { createMemoryContent } from './content.ts'
import { createMemoryGroupQueries } from './group-queries.ts'
import { createMemoryRetention } from './retention.ts'
import { createMemorySessionQueries } from './session-queries.ts'
import type { MemoryJournal, MemoryRows } from './tables.ts'

/** The queries by plain search: slow on many rows, plain enough to judge the durable store by. */
export function createMemoryQueries(
  rows: MemoryRows,
  journal: MemoryJournal,
  seqById: ReadonlyMap<string, number>,
): SyncQueries {
  const jobAt = (seq: number) => rows.job.get(seq) ?? []

  function jobByIdEnd(end: string): string | null | 'many' {
    const digits = parseIdEnd(end)
    if (digits === null) return null
    if (digits.length < SHORTEST_END) return 'many'
    const found = [...seqById.keys()].filter(id => hasIdEnd(id, digits))
    return found.length > 1 ? 'many' : (found[0] ?? null)
  }

  function page(filter: JobFilter, beforeSeq: number | null, limit: number): Page {
    if (filter.states?.length === 0) return { rows: [], next: null }
    const driving = drivingPart(filter)
    const candidates = rows.job
      .ordered()
      .filter(job => (beforeSeq === null || job.seq < beforeSeq) && passes(job, driving))
      .reverse()
    const looked = candidates.slice(0, MOST_LOOKED_AT)
    const found = looked.filter(job => passes(job, filter))
    const isCut = candidates.length > MOST_LOOKED_AT
    return pageOf(found.slice(0, limit + 1), limit, () => (isCut ? (looked.at(-1)?.seq ?? null) : null))
  }

  function passes(job: JobRow, { owner, states, type, worker, name, labels, seqs }: JobFilter): boolean {
    return (
      (seqs === undefined || (job.seq >= seqs.from && job.seq < seqs.to)) &&
      (owner === null || job.owner === owner) &&
      (states === null || states.includes(job.state)) &&
      (type === null || job.type === type) &&
      (worker === null || job.worker === worker) &&
      (name === null || job.name === name) &&
      labels.every(label => rows.label.get(rows.label.keyOf({ ...label, job: job.seq })) !== undefined)
    )
  }

  function hasEnded(seq: number, epoch: number, attempt: number): boolean {
    const job = rows.job.get(seq)
    const isCurrent = job?.attempts === attempt && job.attemptEpoch === epoch
    if (isCurrent && job.attemptState !== null && job.attemptState !== 'ended') return false
    const earlier = rows.attempt.get(rows.attempt.keyOf({ job: seq, number: attempt }))
    return !(earlier?.epoch === epoch && earlier.claimed === 1)
  }

  function segmentAttempts(segment: number) {
    const used = new Map(
      rows.chunk
        .ordered()
        .filter(chunk => chunk.segment === segment)
        .map(({ job, epoch, attempt }) => [`${job} ${epoch} ${attempt}`, { job, epoch, attempt }]),
    )
    return [...used.values()].map(each => ({ ...each, ended: hasEnded(each.job, each.epoch, each.attempt) }))
  }

  function scan<T extends ScanTable>(table: T, after: number, limit: number): readonly Tables[T]['row'][] {
    const first = KEYS[table][0] ?? ''
    const jobOf = (row: object) => Number(cellsOf(row)[first])
    const later = (rows[table].ordered() as readonly Tables[T]['row'][]).filter(row => jobOf(row) > after)
    const last = later.slice(0, limit).at(-1)
    return last === undefined ? [] : later.filter(row => jobOf(row) <= jobOf(last))
  }

  return {
    jobById: id => rows.job.get(seqById.get(id) ?? -1) ?? null,
    jobsBySeq: seqs => seqs.flatMap(jobAt),
    offers: seqs => seqs.flatMap(jobAt).map(({ seq, id, spec }) => ({ seq, id, spec })),
    jobByIdEnd,
    ...createMemoryGroupQueries(rows),
    ...createMemorySessionQueries(rows),
    page,
    scan,
    segmentAttempts,
    attemptsOf: job => rows.attempt.under(job),
    hasOutput: (job, epoch, attempt) =>
      rows.chunk.under(job).some(chunk => chunk.epoch === epoch && chunk.attempt === attempt) ||
      rows.sealed.get(rows.sealed.keyOf({ job, epoch, attempt })) !== undefined,
    chunks: (job, epoch, attempt) =>
      rows.chunk.under(job).filter(chunk => chunk.epoch === epoch && chunk.attempt === attempt),
    sealed: (job, epoch, attempt) => rows.sealed.get(rows.sealed.keyOf({ job, epoch, attempt })) ?? null,
    pendingDeliveries: (webhook, limit) =>
      rows.delivery
        .under(webhook)
        .filter(row => row.dueAt !== null)
        .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.job - b.job)
        .slice(0, limit),
    deliveries: (webhook, beforeJob, limit) =>
      rows.delivery
        .under(webhook)
        .filter(row => beforeJob === null || row.job < beforeJob)
        .reverse()
        .slice(0, limit),
    secret: (owner, name) => rows.secret.get(rows.secret.keyOf({ owner, name })) ?? null,
    auditBefore: (id, limit) =>
      rows.audit
        .ordered()
        .filter(entry => id === null || entry.id < id)
        .reverse()
        .slice(0, limit),
    ...createMemoryContent(rows),
    ...createMemoryRetention(rows),
    journalAfter: (n, limit) => {
      const from = Math.max(0, n - journal.boundary.n)
      return journal.rows.slice(from, from + limit)
    },
    journalFloor: () => {
      const first = journal.rows[0]
      return first === undefined ? null : { n: first.n, hash: first.hash }
    },
    journalBoundary: () => journal.boundary,
  }
}

import type { JobRow, Tables } from '@stoker/protocol'
import { pageOf } from '../page-bounds.ts'
import type { JobFilter, Page, ScanTable } from '../port.ts'
import { type Cell, KEYS } from '../row-keys.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { Connection, Statement } from './connection.ts'
import { createContentReader } from './content.ts'
import { createGroupReader } from './group-reader.ts'
import { createIdEnds, type LookForIdEnd } from './id-ends.ts'
import { createJournalReader } from './journal.ts'
import { foundText, lookedText } from './page.ts'
import { createRetentionReader } from './retention.ts'
import { createSessionReader } from './session-reader.ts'

/** Statements of pages kept prepared: far more than a dashboard and its users vary, few enough to hold. */
const PAGE_STATEMENTS = 200

const AFTER_ALL_IDS = 'g'

/** All queries, at once; a long look in parts. */
export type Reader = Omit<SyncQueries, 'jobByIdEnd'> & { readonly lookForIdEnd: LookForIdEnd }

/** Answers all queries on one connection. */
export function createReader(db: Connection): Reader {
  const journal = createJournalReader(db)
  const prepared = new Map<string, Statement>()

  function statement(text: string): Statement {
    const known = prepared.get(text)
    if (known !== undefined) return known
    if (prepared.size >= PAGE_STATEMENTS) prepared.clear()
    const made = db.prepare(text)
    prepared.set(text, made)
    return made
  }

  const byId = db.prepare('SELECT * FROM job WHERE id = ?')
  const bySeq = db.prepare('SELECT * FROM job WHERE seq = ?')
  const offer = db.prepare('SELECT seq, id, spec FROM job WHERE seq = ?')
  const newest = db.prepare('SELECT max(seq) AS seq FROM job')
  const begin = db.prepare('BEGIN')
  const end = db.prepare('COMMIT')

  /** Two reads, so in one transaction: they must see the same jobs. */
  function page(filter: JobFilter, beforeSeq: number | null, limit: number): Page {
    if (filter.states?.length === 0) return { rows: [], next: null }
    begin.run()
    try {
      const before = beforeSeq ?? (newest.get().seq ?? -1) + 1
      const found = foundText(filter)
      const rows: readonly JobRow[] = statement(found.text).all(...found.values(before), limit + 1)
      return pageOf(rows, limit, () => {
        const looked = lookedText(filter)
        const ends: readonly { readonly seq: number }[] = statement(looked.text).all(...looked.values(before))
        return ends.length === 2 ? (ends[0]?.seq ?? null) : null
      })
    } finally {
      end.run()
    }
  }

  function scan<T extends ScanTable>(table: T, after: number, limit: number): readonly Tables[T]['row'][] {
    const keys: readonly string[] = KEYS[table]
    const first = keys[0]
    const order = keys.map(key => `"${key}"`).join(', ')
    const last: { readonly last: number | null } = statement(
      `SELECT max("${first}") AS last FROM (SELECT "${first}" FROM ${table} WHERE "${first}" > ? ORDER BY ${order} LIMIT ?)`,
    ).get(after, limit)
    if (last.last === null) return []
    const slice = `SELECT * FROM ${table} WHERE "${first}" > ? AND "${first}" <= ? ORDER BY ${order}`
    return statement(slice).all(after, last.last)
  }

  const keyed = (text: string) => {
    const made = db.prepare(text)
    return (...key: readonly Cell[]) => made.all(...key)
  }
  const present = (ask: Statement, seqs: readonly number[]) =>
    seqs.map(seq => ask.get(seq)).filter(row => row !== undefined)
  const sealed = keyed('SELECT * FROM sealed WHERE job = ? AND epoch = ? AND attempt = ?')
  const output = db.prepare(HAS_OUTPUT)
  const newestDeliveries = keyed('SELECT * FROM delivery WHERE webhook = ? AND job < ? ORDER BY job DESC LIMIT ?')
  const segment = keyed(SEGMENT_ATTEMPTS)

  const secret = keyed('SELECT * FROM secret WHERE owner = ? AND name = ?')
  const audit = keyed('SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?')

  return {
    jobById: id => byId.get(id) ?? null,
    jobsBySeq: seqs => present(bySeq, seqs),
    offers: seqs => present(offer, seqs),
    lookForIdEnd: createIdEnds(db),
    ...createGroupReader(db),
    ...createSessionReader(db),
    page,
    scan,
    attemptsOf: keyed('SELECT * FROM attempt WHERE job = ? ORDER BY number'),
    hasOutput: (...key) => output.get(...key, ...key).found === 1,
    chunks: keyed('SELECT * FROM chunk WHERE job = ? AND epoch = ? AND attempt = ? ORDER BY stream, "offset"'),
    sealed: (...key) => sealed(...key)[0] ?? null,
    segmentAttempts: number => segment(number).map(row => ({ ...row, ended: row.ended === 1 })),
    pendingDeliveries: keyed(
      'SELECT * FROM delivery WHERE webhook = ? AND dueAt IS NOT NULL ORDER BY dueAt, job LIMIT ?',
    ),
    deliveries: (webhook, beforeJob, limit) => newestDeliveries(webhook, beforeJob ?? Number.MAX_SAFE_INTEGER, limit),
    secret: (owner, name) => secret(owner, name)[0] ?? null,
    auditBefore: (id, limit) => audit(id ?? AFTER_ALL_IDS, limit),
    ...createContentReader(db),
    ...createRetentionReader(db),
    journalAfter: journal.after,
    journalFloor: journal.floor,
    journalBoundary: journal.boundary,
  }
}

const HAS_OUTPUT = `
  SELECT EXISTS (SELECT 1 FROM chunk WHERE job = ? AND epoch = ? AND attempt = ?)
    OR EXISTS (SELECT 1 FROM sealed WHERE job = ? AND epoch = ? AND attempt = ?) AS found`

/** The current attempt of a job lives while its state says so; an earlier one only while it claims its resources. */
const SEGMENT_ATTEMPTS = `
  SELECT used.job, used.epoch, used.attempt,
    NOT EXISTS (SELECT 1 FROM job WHERE seq = used.job AND attempts = used.attempt AND attemptEpoch = used.epoch
      AND attemptState IS NOT NULL AND attemptState <> 'ended')
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE job = used.job AND number = used.attempt AND epoch = used.epoch
      AND claimed = 1) AS ended
  FROM (SELECT DISTINCT job, epoch, attempt FROM chunk WHERE segment = ?) AS used
  ORDER BY used.job, used.epoch, used.attempt`

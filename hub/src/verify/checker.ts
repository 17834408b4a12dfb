import { type Change, type ChangeOf, JournalBody } from '@stoker/protocol'
import { chainHash } from '../engine/core.ts'
import type { JournalEnd, JournalRow } from '../store/port.ts'
import { ClaimBook } from './claim-book.ts'
import { JobLives } from './job-lives.ts'
import { LimitBook } from './limit-book.ts'
import type { Guarantee, VerifyProblem } from './problems.ts'
import { SessionBook } from './session-book.ts'

/** Enough to see a pattern; a broken journal would name every row. */
const MAX_PROBLEMS = 100

/** Follows a journal row by row and keeps only what is still live, so it can walk beside a hub or over years of history. */
export interface Checker {
  /** A row as the store keeps it. */
  commit(row: JournalRow): void
  /** A row whose changes are at hand already. */
  take(row: JournalRow, changes: readonly Change[]): void
  readonly problems: readonly VerifyProblem[]
  readonly commits: number
  readonly changes: number
  /** Jobs that have not ended. */
  readonly liveJobs: number
  /** Attempts that still claim resources. */
  readonly claims: number
}

/** Starts after the given row; without one, at the beginning of all things. */
export function createChecker(after: JournalEnd = { n: 0, hash: '' }): Checker {
  const problems: VerifyProblem[] = []
  const isWhole = after.n === 0
  let end = after
  let commits = 0
  let changeCount = 0
  const complain = (guarantee: Guarantee, text: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ guarantee, text: `commit ${end.n}: ${text}`, n: end.n })
  }
  const lives = new JobLives(complain, isWhole)
  const claims = new ClaimBook(complain, isWhole)
  const limits = isWhole ? new LimitBook(complain) : null
  const sessions = isWhole ? new SessionBook(complain, seq => lives.stateOf(seq)) : null
  const batches = new Map<string, number>()
  const dueTimes = new Map<string, number>()

  function takeBatch({ worker, n }: ChangeOf<'batch'>): void {
    const before = batches.get(worker) ?? 0
    if (n <= before) complain('g', `batch ${n} of worker ${worker} was taken after batch ${before}; numbers only grow`)
    batches.set(worker, n)
  }

  /** A due time is met once: between two changes of a schedule by its owner its times only grow. */
  function takeFire(change: ChangeOf<'fired'>): void {
    if (change.dueAt === null) return
    const before = dueTimes.get(change.schedule) ?? 0
    if (change.dueAt <= before)
      complain('schedule', `${change.schedule} met ${change.dueAt} after ${before}; times only grow`)
    dueTimes.set(change.schedule, change.dueAt)
  }

  function takeCount(change: Change): void {
    switch (change.c) {
      case 'workerRemoved':
        batches.delete(change.id)
        break
      case 'schedule':
      case 'scheduleRemoved':
        dueTimes.delete(change.id)
        break
      case 'fired':
        takeFire(change)
        break
      default:
    }
  }

  function follow(row: JournalRow): void {
    const { n, hash, body } = row
    const before = end
    end = { n, hash }
    if (n !== before.n + 1) complain('journal', `row ${n} follows row ${before.n}`)
    const computed = chainHash(before.hash, n, body)
    if (computed !== hash)
      complain('journal', `row ${n} has the hash ${hash}, its body and the row before it give ${computed}`)
  }

  function take(row: JournalRow, changes: readonly Change[]): void {
    follow(row)
    commits += 1
    changeCount += changes.length
    for (const change of changes) {
      if (change.c === 'batch') {
        takeBatch(change)
        continue
      }
      lives.take(change)
      claims.take(change)
      limits?.take(change)
      sessions?.take(change)
      takeCount(change)
    }
    sessions?.closeCommit()
  }

  return {
    take,
    commit(row) {
      const body = JournalBody.safeParse(tryJson(row.body))
      if (body.success) take(row, body.data.changes)
      else {
        follow(row)
        complain('journal', `row ${row.n} is kept, but its body cannot be read: ${body.error.issues[0]?.message}`)
      }
    },
    problems,
    get commits() {
      return commits
    },
    get changes() {
      return changeCount
    },
    get liveJobs() {
      return lives.live
    },
    get claims() {
      return claims.size
    },
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import type { ArtifactRow, ChunkRow, Fence, GroupRow, JobRow, SealedRow } from '@stoker/protocol'
import { fenceKey, isTerminal } from '@stoker/protocol'
import { Recovering } from '../engine/recover.ts'
import type { State } from '../engine/state.ts'
import type { JournalRow, Store } from '../store/port.ts'
import { type Checker, createChecker } from './checker.ts'
import { GroupCounts } from './group-counts.ts'
import type { Complain, VerifyProblem } from './problems.ts'
import { Replay } from './replay.ts'
import { checkStreams } from './stream-rows.ts'
import { checkWaiting } from './waiting-jobs.ts'

const SLICE = 1000

export interface VerifyReport {
  readonly problems: readonly VerifyProblem[]
  /** What could not be checked, and why. */
  readonly notes: readonly string[]
  readonly commits: number
  readonly changes: number
  readonly jobs: number
  readonly chunks: number
}

/** Checks a store at rest: the journal step by step, the rows against its replay, every attempt's output for gaps. */
export async function verifyData({
  store,
}: {
  readonly store: Pick<Store, 'queries' | 'recover' | 'journalEnd'>
}): Promise<VerifyReport> {
  const { queries } = store
  const boundary = await queries.journalBoundary()
  const isWhole = boundary.n === 0
  const checker = createChecker(boundary)
  const replay = isWhole ? new Replay() : null
  const found: VerifyProblem[] = []
  const complain: Complain = (guarantee, text) => found.push({ guarantee, text, n: null })
  for await (const row of journalOf(store, boundary.n)) {
    checker.commit(row)
    replay?.commit(row)
  }
  const recovered = await recover(store, complain)
  if (recovered !== null) {
    compare(recovered, replay, checker, complain)
    checkWaiting(recovered, complain)
  }
  const jobs = await countJobs(store, recovered, complain)
  const chunks = await checkAllStreams(store, complain)
  await checkArtifacts(store, complain)
  return {
    problems: [...checker.problems, ...found],
    notes: isWhole ? [] : [prunedNote(boundary.n)],
    commits: checker.commits,
    changes: checker.changes,
    jobs,
    chunks,
  }
}

function prunedNote(n: number): string {
  return `the journal up to commit ${n} was pruned: what jobs and workers did before it is believed, and the rows cannot be held against a replay`
}

async function* journalOf({ queries }: Pick<Store, 'queries'>, from: number): AsyncGenerator<JournalRow> {
  let last = from
  for (;;) {
    const rows = await queries.journalAfter(last, SLICE)
    yield* rows
    const end = rows.at(-1)
    if (end === undefined) return
    last = end.n
  }
}

async function recover(store: Pick<Store, 'recover'>, complain: Complain): Promise<State | null> {
  try {
    const recovering = new Recovering()
    const rows = await store.recover(recovering.visit)
    return recovering.finish(rows, { wall: 0, lease: 0 })
  } catch (error) {
    complain('g', `the rows give no state: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

function compare(recovered: State, replay: Replay | null, checker: Checker, complain: Complain): void {
  const disagreement = replay?.disagreement(recovered) ?? null
  if (disagreement !== null) complain('g', disagreement)
  if (replay !== null && checker.liveJobs !== liveJobs(recovered))
    complain('a', `the journal leaves ${checker.liveJobs} jobs alive, the rows have ${liveJobs(recovered)}`)
}

function liveJobs(state: State): number {
  return state.queued.size + state.waiting.size + state.active.size
}

/** Counters are what lists and quotas believe; each must equal the rows it counts. */
async function countJobs(store: Pick<Store, 'queries'>, state: State | null, complain: Complain): Promise<number> {
  const counts = new Map<string, number>()
  const groups = new GroupCounts()
  let jobs = 0
  for await (const job of scan(store, 'job', row => row.seq)) {
    jobs += 1
    counts.set(`${job.owner} ${job.state}`, (counts.get(`${job.owner} ${job.state}`) ?? 0) + 1)
    checkJobRow(job, complain)
    groups.take(job)
  }
  for await (const group of groupsOf(store)) groups.compare(group, complain)
  for (const [owner, counters] of state?.counters ?? []) {
    for (const [name, n] of Object.entries(counters)) {
      const real = counts.get(`${owner} ${name}`) ?? 0
      if (n !== real) complain('a', `${real} jobs of ${owner} are ${name}, the counter says ${n}`)
    }
  }
  return jobs
}

async function* groupsOf({ queries }: Pick<Store, 'queries'>): AsyncGenerator<GroupRow> {
  for (let before: number | null = null; ; ) {
    const { rows, next }: Awaited<ReturnType<Store['queries']['groups']>> = await queries.groups(null, before, SLICE)
    yield* rows
    if (next === null) return
    before = next
  }
}

function checkJobRow({ seq, state, endedAt, attemptState, result }: JobRow, complain: Complain): void {
  if (isTerminal(state) !== (endedAt !== null))
    complain('a', `job ${seq} is ${state}, but it ${endedAt === null ? 'has no end' : `ended at ${endedAt}`}`)
  if (result !== null && !isTerminal(state)) complain('b', `job ${seq} is ${state}, but it has a result`)
  if (isTerminal(state) && attemptState !== null && attemptState !== 'ended')
    complain('a', `job ${seq} is ${state}, but its attempt is ${attemptState}`)
}

async function checkAllStreams(store: Pick<Store, 'queries'>, complain: Complain): Promise<number> {
  let count = 0
  let open: { readonly fence: Fence; readonly rows: ChunkRow[] } | null = null
  const close = async () => {
    if (open === null) return
    const { job, epoch, attempt } = open.fence
    checkStreams(open.fence, open.rows, await store.queries.sealed(job, epoch, attempt), complain)
  }
  for await (const row of scan(store, 'chunk', chunk => chunk.job)) {
    count += 1
    if (open === null || fenceKey(open.fence) !== fenceKey(row)) {
      await close()
      open = { fence: { job: row.job, epoch: row.epoch, attempt: row.attempt }, rows: [] }
    }
    open.rows.push(row)
  }
  await close()
  return count
}

/** Whatever an attempt left is there whole, under the size it was published with. */
async function checkArtifacts(store: Pick<Store, 'queries'>, complain: Complain): Promise<void> {
  for await (const { job, attempt, path, owner, sha256, size } of scan(store, 'artifact', row => row.job)) {
    const [blob] = await store.queries.blobs(owner, [sha256])
    if (blob?.size !== size)
      complain(
        'f',
        `attempt ${attempt} of job ${job} left ${JSON.stringify(path)} with ${size} bytes, its content ${blob === undefined ? 'is not there' : `has ${blob.size}`}`,
      )
  }
}

type Scanned = {
  readonly job: JobRow
  readonly chunk: ChunkRow
  readonly sealed: SealedRow
  readonly artifact: ArtifactRow
}

async function* scan<T extends 'job' | 'chunk' | 'artifact'>(
  { queries }: Pick<Store, 'queries'>,
  table: T,
  jobOf: (row: Scanned[T]) => number,
): AsyncGenerator<Scanned[T]> {
  let after = 0
  for (;;) {
    const rows = (await queries.scan(table, after, SLICE)) as readonly Scanned[T][]
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = jobOf(last)
  }
}

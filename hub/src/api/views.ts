import {
  type Attempt,
  type AttemptRow,
  isTerminal,
  type Job,
  type JobDetail,
  type JobRow,
  type LiveUse,
  type Progress,
  readSpec,
  type WaitingFor,
} from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import type { ApiContext } from './context.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'
import { viewWaiting, waitingReason } from './waiting-view.ts'

/** Jobs as people see them: what is stored, joined with what is only live. */
export function viewJobs(context: ViewPorts, rows: readonly JobRow[]): Promise<Job[]> {
  return context.engine.read(state => {
    const live = new LiveLook(context, state)
    return rows.map(row => jobView(row, live))
  })
}

export async function viewJob(context: ViewPorts, row: JobRow): Promise<Job> {
  return context.engine.read(state => jobView(row, new LiveLook(context, state)))
}

export async function viewJobDetail(context: ViewPorts & Pick<ApiContext, 'queries'>, row: JobRow): Promise<JobDetail> {
  const earlier = await context.queries.attemptsOf(row.seq)
  const session = row.session === null ? undefined : (await context.queries.jobsBySeq([row.session]))[0]
  return context.engine.read(state => {
    const live = new LiveLook(context, state)
    const history = earlier.map(attempt => earlierAttempt(attempt, live))
    const last = earlier.some(({ number }) => number === row.attempts) ? null : lastAttempt(row, live)
    return {
      ...jobView(row, live),
      spec: readSpec(row.spec),
      result: row.result === null ? null : JSON.parse(row.result),
      history: last === null ? history : [...history, last],
      session: session?.id ?? null,
      using: row.state === 'active' ? live.using(row.seq, row.attempts) : null,
    }
  })
}

export type ViewPorts = Pick<ApiContext, 'engine' | 'board' | 'unschedulable'>

/** Questions to live state; why a bucket cannot be scheduled is asked once per look. */
class LiveLook {
  readonly #context: ViewPorts
  readonly #state: State
  readonly #verdicts = new Map<number, string | null>()

  constructor(context: ViewPorts, state: State) {
    this.#context = context
    this.#state = state
  }

  /** A worker that was removed is known by its id only. */
  worker(id: string): { id: string; name: string } {
    return { id, name: this.#state.workers.get(id)?.facts.name ?? id }
  }

  unschedulable(bucket: number): string | null {
    const known = this.#verdicts.get(bucket)
    if (known !== undefined) return known
    const verdict = this.#context.unschedulable(this.#state, bucket)
    this.#verdicts.set(bucket, verdict)
    return verdict
  }

  waitingFor(row: JobRow): WaitingFor | null {
    return viewWaiting(row, this.#state)
  }

  using(seq: number, attempt: number): LiveUse | null {
    const view = this.#context.board.job(seq)
    return view?.attempt === attempt ? view.using : null
  }

  progress(seq: number, attempt: number): Progress | null {
    const view = this.#context.board.job(seq)
    return view?.attempt === attempt ? view.progress : null
  }
}

/** What belongs to the last attempt is shown while it runs and once it decided the job; between attempts it is history. */
function jobView(row: JobRow, live: LiveLook): Job {
  const isEnded = isTerminal(row.state)
  const isAtWork = row.state === 'active'
  const isShown = isEnded || isAtWork
  const waitingFor = live.waitingFor(row)
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    state: row.state,
    owner: row.owner,
    priority: row.priority,
    labels: row.labels === null ? {} : JSON.parse(row.labels),
    submittedAt: isoTime(row.submittedAt),
    startedAt: isoTimeOrNull(row.startedAt ?? row.runningAt),
    endedAt: isoTimeOrNull(row.endedAt),
    reason: waitingFor === null ? (row.reason ?? (isEnded ? row.error : null)) : waitingReason(waitingFor),
    unschedulable: row.state === 'queued' ? live.unschedulable(row.bucket) : null,
    waitingFor,
    cancelRequested: row.cancelBy !== null,
    attempts: row.attempts,
    failures: row.failures,
    lost: row.lost,
    worker: row.worker !== null && isShown ? live.worker(row.worker) : null,
    exitCode: isEnded ? row.exitCode : null,
    signal: isEnded ? row.signal : null,
    progress: isAtWork ? live.progress(row.seq, row.attempts) : null,
    retryOf: row.retryOf,
    group: row.groupId,
  }
}

function lastAttempt(row: JobRow, live: LiveLook): Attempt | null {
  if (row.worker === null || row.attemptEpoch === null || row.placedAt === null) return null
  return {
    number: row.attempts,
    epoch: row.attemptEpoch,
    worker: live.worker(row.worker),
    state: (row.attemptState ?? 'ended') as Attempt['state'],
    outcome: row.outcome,
    isolation: row.isolation as Attempt['isolation'],
    containerId: row.containerId,
    gpus: row.gpus === null ? [] : JSON.parse(row.gpus),
    placedAt: isoTime(row.placedAt),
    startedAt: isoTimeOrNull(row.runningAt),
    endedAt: isoTimeOrNull(row.attemptEndedAt),
    exitCode: row.exitCode,
    signal: row.signal,
    error: row.error,
    note: row.note,
    usage: row.usage === null ? null : JSON.parse(row.usage),
  }
}

/** The body of an attempt row, as the engine writes it. */
type EarlierBody = Pick<
  Attempt,
  'outcome' | 'isolation' | 'gpus' | 'exitCode' | 'signal' | 'error' | 'note' | 'usage'
> & {
  readonly placedAt: number
  readonly runningAt: number | null
  readonly endedAt: number | null
  readonly containerId?: string
}

function earlierAttempt({ number, epoch, worker, body }: AttemptRow, live: LiveLook): Attempt {
  const earlier: EarlierBody = JSON.parse(body)
  const { outcome, isolation, gpus, placedAt, runningAt, endedAt, exitCode, signal, error, note, usage } = earlier
  return {
    number,
    epoch,
    worker: live.worker(worker),
    state: 'ended',
    outcome,
    isolation,
    containerId: earlier.containerId ?? null,
    gpus,
    placedAt: isoTime(placedAt),
    startedAt: isoTimeOrNull(runningAt),
    endedAt: isoTimeOrNull(endedAt),
    exitCode,
    signal,
    error,
    note,
    usage,
  }
}

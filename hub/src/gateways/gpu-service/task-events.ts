import { type AttemptRow, type JobRow, readSpec } from '@stoker/protocol'
import type { Streams } from '../../outputs/port.ts'
import { BEGINNING, followJob } from '../../serving/follow-job.ts'
import type { JobWatch } from '../../serving/job-watch.ts'
import type { Queries } from '../../store/port.ts'
import type { TaskEvent } from './line-events.ts'
import { noteOf } from './task-labels.ts'
import { type AttemptFacts, attemptFacts, endOfAttempt } from './task-record.ts'
import { elapsedSeconds, errorOf, taskState } from './task-status.ts'
import { ToldAttempt } from './told-attempt.ts'

export interface TaskEventPorts {
  readonly queries: Pick<Queries, 'jobById' | 'attemptsOf'>
  readonly streams: Pick<Streams, 'read' | 'watch'>
  readonly watch: Pick<JobWatch, 'add'>
  /** The number a device has for clients, null for one that no worker ever showed. */
  readonly deviceId: (uuid: string) => number | null
  /** The device that a session had first; null for one that has or had none. */
  readonly sessionGpu: (sessionId: string) => Promise<string | null>
}

/** What a stream of a task says: events in the order of their numbers, or that there was nothing to say for a while. */
export type TaskNews = { readonly kind: 'events'; readonly events: readonly TaskEvent[] } | { readonly kind: 'quiet' }

/**
 * All events of a task from its first on, made from what is stored and nothing else: each replay gives the same ones in
 * the same order. A later attempt goes on where the one before it stopped; the last event is `task_finish`, always.
 */
export async function* taskEvents(
  ports: TaskEventPorts,
  known: JobRow,
  signal: AbortSignal,
): AsyncGenerator<TaskNews, void> {
  const { queries } = ports
  let row = known
  let earlier: readonly AttemptRow[] = []
  const task = openingOf(ports, known)
  const tell = (number: number): ToldAttempt =>
    new ToldAttempt(number, {
      opening: facts => task.opening(facts, number === 1 ? null : endOfAttempt(earlier, number - 1)),
      created: task.created,
    })
  let told = tell(1)
  if (task.atOnce !== null) yield { kind: 'events', events: [task.atOnce] }

  async function learn(): Promise<TaskNews> {
    if (told.number > 1 || told.number < row.attempts) earlier = await queries.attemptsOf(row.seq)
    const facts = attemptFacts(row, earlier, told.number)
    if (facts !== null && !told.isOpened) await task.meetSession()
    return { kind: 'events', events: facts === null ? [] : told.learn(facts) }
  }

  for await (const news of followJob(ports, known, { attempt: 1, offsets: BEGINNING }, signal)) {
    if (news.kind === 'progress') continue
    if (news.kind === 'quiet') {
      yield news
      continue
    }
    if (news.kind === 'job') {
      row = news.row
      if (told.needsFacts) yield await learn()
    } else if (news.kind === 'output') {
      if (told.needsFacts) {
        row = (await queries.jobById(row.id)) ?? row
        yield await learn()
      }
      yield { kind: 'events', events: told.push(news.pieces) }
    } else if (news.kind === 'over') {
      row = news.row
      if (told.needsFacts) yield await learn()
      yield { kind: 'events', events: told.end() }
      told = tell(news.attempt + 1)
      yield await learn()
    } else yield { kind: 'events', events: closing(news.row) }
  }
}

/** A program that could not be started has no words of its own: what went wrong is said for it. */
function closing(row: JobRow): TaskEvent[] {
  const error = errorOf(row)
  const neverRan = row.state === 'failed' && row.attempts > 0 && row.runningAt === null
  const finish = {
    status: taskState(row.state),
    elapsed_seconds: elapsedSeconds(row, row.endedAt ?? row.submittedAt),
    ...(error === null ? {} : { error }),
  }
  return [
    ...(neverRan ? [{ event: 'worker', data: { status: 'error', error } }] : []),
    { event: 'task_finish', data: finish },
  ]
}

interface Opening {
  /** Of a task in a session that has its place already: told before the task's own turn comes. */
  readonly atOnce: TaskEvent | null
  readonly opening: (facts: AttemptFacts, before: string | null) => TaskEvent | null
  readonly created: ((facts: AttemptFacts) => TaskEvent) | null
  /** To be called before the first opening: from then on the session of the task is known to have a device, or none. */
  readonly meetSession: () => Promise<void>
}

function openingOf(ports: TaskEventPorts, row: JobRow): Opening {
  const { connection: status, gpu: known } = noteOf(row)
  const spec = readSpec(row.spec)
  const session = spec.task?.session ?? null
  let firstGpu: string | null = null
  const connection = (gpu: number | null, message: string | null): TaskEvent => ({
    event: 'connection',
    data: {
      status,
      task_id: row.id,
      ...(gpu === null ? {} : { gpu_id: gpu }),
      ...(session === null ? {} : { session_id: session }),
      ...(message === null ? {} : { message }),
    },
  })
  return {
    atOnce: known === undefined ? null : connection(known, null),
    meetSession: async () => {
      if (session !== null && known === undefined) firstGpu ??= await ports.sessionGpu(session)
    },
    created: session === null ? createdIn : null,
    opening: ({ gpus, number }, before) => {
      if (known !== undefined && before === null) return null
      const uuid = firstGpu ?? gpus[0]
      const gpu = known ?? (uuid === undefined ? null : ports.deviceId(uuid))
      return connection(gpu, before === null ? null : `attempt ${number}, the one before ${before}`)
    },
  }
}

function createdIn({ containerId }: AttemptFacts): TaskEvent {
  return {
    event: 'worker',
    data: { status: 'created', ...(containerId === null ? {} : { container_id: containerId }) },
  }
}

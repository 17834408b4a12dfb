import type { JobRow } from '@stoker/protocol'
import { Bell } from '../../serving/bell.ts'
import { PING_MS } from '../../serving/sse.ts'
import { pingText, sseText } from './sse-text.ts'
import { type TaskEventPorts, taskEvents } from './task-events.ts'
import { noteOf } from './task-labels.ts'

/** How often a task that waits for its turn is told where it stands. */
const LOOK_MS = 1000

export interface TaskStreamPorts extends TaskEventPorts {
  readonly now: () => number
  /** How many are before it; null when that is not known or it does not queue. */
  readonly ahead: (seq: number) => Promise<number | null>
}

/** The events of a task behind number `after`, as text; ends after `task_finish`. */
export async function* taskStream(
  ports: TaskStreamPorts,
  row: JobRow,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const hasPlace = noteOf(row).gpu !== undefined
  if (isQueued(row) && row.attempts === 0 && !hasPlace) yield* queueUpdates(ports, row, signal)
  yield* numbered(ports, row, after, signal)
}

/** Counts from the first event on, whoever asks: what has a number once has it in every replay. */
async function* numbered(
  ports: TaskStreamPorts,
  row: JobRow,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let id = 0
  for await (const news of taskEvents(ports, row, signal)) {
    if (news.kind === 'quiet') {
      yield pingText(ports.now())
      continue
    }
    let text = ''
    for (const { event, data } of news.events) {
      id += 1
      if (id > after) text += sseText(event, data, id)
    }
    if (text !== '') yield text
  }
}

/** Where a task stands is true for a moment only: these events have no number and are in no replay. */
async function* queueUpdates(ports: TaskStreamPorts, known: JobRow, signal: AbortSignal): AsyncGenerator<string, void> {
  const bell = new Bell()
  const unwatch = ports.watch.add(known.seq, { changed: bell.ring, progressed: () => {} })
  let told: number | null | undefined
  let saidAt = ports.now()
  try {
    for (let row: JobRow | null = known; row !== null && isQueued(row) && !signal.aborted; ) {
      const ahead = await ports.ahead(row.seq)
      const position = ahead === null ? null : ahead + 1
      if (position !== told) {
        yield sseText('connection', { status: 'queued', task_id: row.id, position }, null)
        told = position
        saidAt = ports.now()
      } else if (ports.now() - saidAt >= PING_MS) {
        yield pingText(ports.now())
        saidAt = ports.now()
      }
      await bell.wait(LOOK_MS, signal)
      row = await ports.queries.jobById(known.id)
    }
  } finally {
    unwatch()
  }
}

function isQueued({ state }: JobRow): boolean {
  return state === 'queued' || state === 'waiting'
}

import type { Offer } from '@stoker/protocol'
import type { Exit } from '../executors/port.ts'
import { lostBy, lostFate, type ProgramFate, programFate } from './program-end.ts'
import type { Stopped } from './session-journal.ts'

/** How the program of a session ended, and who wanted it. */
export interface SessionEnd {
  readonly offer: Offer
  readonly exit: Exit
  readonly stop: Stopped | null
  readonly lastStderr: readonly string[]
}

/** What is known of a task that had a place, or waited for one, when its session's program ended. */
export interface UnfinishedTask {
  readonly stop: Stopped | null
  /** Its line was written to the program. */
  readonly wasGiven: boolean
  readonly hasAnswered: boolean
  readonly isOpener: boolean
}

/** Reasons to stop a session that are no fault of its tasks: they run again elsewhere. */
const RUN_AGAIN: ReadonlySet<string> = new Set(['shutdown', 'stale', 'task', 'input'])

/**
 * The end of a task that did not finish. Stopped ones end as they were asked to; those whose session was ended end with it;
 * those that the program cannot have begun run again; for the rest the end of the program decides.
 */
export function unfinishedFate(task: UnfinishedTask, { offer, exit, stop, lastStderr }: SessionEnd): ProgramFate {
  if (task.stop?.cause === 'deadline') return { outcome: 'timed_out', error: task.stop.text, note: null }
  if (task.stop !== null) return { outcome: 'canceled', error: task.stop.text, note: null }
  const lost = lostBy(exit)
  if (lost !== null) return lost
  if (stop !== null && RUN_AGAIN.has(stop.cause)) return lostFate(`its session ended: ${stop.text}`)
  if (stop !== null) return failed(`session ended: ${stop.text}`)
  if (exit.stoppedBy === 'deadline') return failed('session ended: Task timeout exceeded')
  if (!task.wasGiven && !task.isOpener) return lostFate('its session ended before the program was given the task')
  if (exit.exitCode === 0 && !task.hasAnswered && !task.isOpener)
    return lostFate('the program of its session exited before it began the task')
  return programFate(offer, exit, { finish: null, lastStderr, stop: null })
}

/** How a session's own attempt ends: what was asked for is no failure, however the program took it. */
export function sessionFate({ offer, exit, stop, lastStderr }: SessionEnd): ProgramFate {
  const lost = lostBy(exit)
  if (lost !== null || exit.startError !== null || exit.overDisk === true)
    return lost ?? programFate(offer, exit, { finish: null, lastStderr, stop: null })
  if (stop?.cause === 'task') return failed(stop.text)
  if (stop?.cause === 'canceled' || stop?.cause === 'stale')
    return { outcome: 'canceled', error: stop.text, note: null }
  if (stop !== null) return { outcome: 'completed', error: null, note: leftNote(stop, exit) }
  const fate = programFate(offer, exit, { finish: null, lastStderr, stop: null })
  return fate.outcome === 'completed' ? { ...fate, note: 'worker_exited' } : fate
}

/** The reason, and what was unusual about the way it left. A worker that shuts down says only so: the hub takes it as the reason. */
function leftNote({ cause, text: reason }: Stopped, { exitCode, signal }: Exit): string {
  if (cause === 'shutdown') return 'shutdown'
  if (signal !== null) return `${reason}; it did not leave in time and was ended by ${signal}`
  return exitCode === 0 ? reason : `${reason}; exited with code ${exitCode}`
}

function failed(error: string): ProgramFate {
  return { outcome: 'failed', error, note: null }
}

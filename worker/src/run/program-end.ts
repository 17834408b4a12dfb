import { type EndedReport, type Fence, formatSize, type Offer, outcomeOf, type ProgramOutcome } from '@stoker/protocol'
import type { Finish } from '../events/program-watch.ts'
import type { Exit } from '../executors/port.ts'
import type { StopReason } from './attempt-run.ts'

/** What an end means for the attempt. */
export type ProgramFate = Omit<ProgramOutcome, 'outcome'> & { readonly outcome: EndedReport['outcome'] }

/** What was heard of a program while it ran, and why it was stopped. */
export interface Heard {
  readonly finish: Finish | null
  readonly lastStderr: readonly string[]
  readonly stop: StopReason | null
}

/** How the end of a program is judged; the worker's own part in it comes before what the program said. */
export function programFate(offer: Offer, exit: Exit, { finish, lastStderr, stop }: Heard): ProgramFate {
  const lost = lostBy(exit)
  if (lost !== null) return lost
  if (exit.startError !== null) return { outcome: 'failed', error: exit.startError, note: null }
  if (exit.overDisk === true) return { outcome: 'failed', error: overDisk(offer), note: null }
  if (exit.stoppedBy === 'canceled' && stop?.cause === 'shutdown') return lostFate(stop.text)
  return outcomeOf({
    finish,
    exitCode: exit.exitCode,
    signal: exit.signal,
    oomLimitText: exit.oom ? formatSize(offer.spec.resources.memoryBytes ?? 0) : null,
    deadlinePassed: exit.stoppedBy === 'deadline',
    canceledBy: exit.stoppedBy === 'canceled' ? (stop?.text ?? 'canceled') : null,
    lastStderr,
  })
}

/** Nobody can tell how it ended: it may run again. */
export function lostBy(exit: Exit): ProgramFate | null {
  if (exit.keeperLost) return lostFate('its keeper vanished: the machine restarted or the keeper was killed')
  return exit.stoppedBy === 'abandoned' ? lostFate('no worker came back to it in time') : null
}

export function lostFate(error: string): ProgramFate {
  return { outcome: 'lost', error, note: null }
}

export function endedReport(
  offer: Offer,
  exit: Exit,
  { outcome, error, note }: ProgramFate,
  more: { readonly note: string | null } & Pick<EndedReport, 'result' | 'usage'>,
): EndedReport {
  return {
    kind: 'ended',
    fence: offer.fence,
    at: exit.endedAtMs,
    outcome,
    startedAt: exit.startError === null ? exit.startedAtMs : null,
    exitCode: exit.exitCode,
    signal: exit.signal,
    error,
    note: notes(note, more.note, droppedNote(sum(exit.droppedBytes), offer.spec.outputLimitBytes)),
    result: more.result,
    usage: more.usage,
  }
}

/** The end of an attempt whose program never ran, or was never given it. */
export function unstartedReport(fence: Fence, at: number, { outcome, error, note }: ProgramFate): EndedReport {
  const nothing = { startedAt: null, exitCode: null, signal: null, result: null, usage: null }
  return { kind: 'ended', fence, at, outcome, error, note, ...nothing }
}

export function notes(...parts: readonly (string | null)[]): string | null {
  return parts.filter(part => part !== null).join('; ') || null
}

export function droppedNote(dropped: number, limitBytes: number): string | null {
  return dropped === 0
    ? null
    : `${formatSize(dropped)} of output above the limit of ${formatSize(limitBytes)} were dropped`
}

function sum({ stdout, stderr }: Exit['droppedBytes']): number {
  return stdout + stderr
}

function overDisk({ spec }: Offer): string {
  const limit = spec.resources.diskBytes
  return limit === null
    ? 'out of disk: its work folder took what the worker had free but a reserve'
    : `out of disk: its work folder grew beyond the limit of ${formatSize(limit)}`
}

import type { Line, OutputStream, ProgramEvent } from '@stoker/protocol'

/** One line of a program, when it came, and what Stoker understands by it. */
export interface Heard extends Line {
  readonly stream: OutputStream
  /** Counted from 1 in its stream, blank lines too, as an editor would. */
  readonly number: number
  readonly atMs: number
  readonly said: ProgramEvent
  /** False for what is a log line only because it is no event. */
  readonly isEvent: boolean
}

export interface RunEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly isOutOfMemory: boolean
}

/** `once`: a one-off. `session`: two tasks, then the end of stdin. `stop`: asked to end in the middle. `terminal`: once more, with a terminal for its output. */
export type RunKind = 'once' | 'session' | 'stop' | 'terminal'

/** All that is known of a run when it is over; times count from its start. */
export interface Observation extends RunEnd {
  readonly kind: RunKind
  readonly heard: readonly Heard[]
  readonly endedAtMs: number
  readonly hasTimedOut: boolean
  readonly tasksSent: number
  /** When stdin of a session ended, or null. */
  readonly inputEndedAtMs: number | null
  /** When it was asked to end by SIGTERM, or null. */
  readonly askedAtMs: number | null
  /** It did not end by itself within the grace. */
  readonly wasKilled: boolean
  /** The longest time in which the check itself was not awake: what came meanwhile seems to have come at once. */
  readonly longestNapMs: number
}

export interface Limits {
  readonly timeoutMs: number
  readonly graceMs: number
}

export function eventsOf(run: Pick<Observation, 'heard'>, name?: ProgramEvent['event']): Heard[] {
  return run.heard.filter(one => one.isEvent && (name === undefined || one.said.event === name))
}

/** How it ended, as people say it. */
export function endText({ exitCode, signal }: RunEnd): string {
  return signal === null ? `exit code ${exitCode}` : `a kill by ${signal}`
}

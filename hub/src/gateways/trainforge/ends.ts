import { constants } from 'node:os'
import { type ArtifactEntry, type EndedReport, type Fence, outcomeOf, type ProgramWatch } from '@stoker/protocol'

/** What is known of an attempt when it ends. */
export interface Ending {
  readonly fence: Fence
  readonly now: number
  /** Null: it is known already. */
  readonly startedAt: number | null
  /** Who asked for the end, if someone did. */
  readonly canceledBy: string | null
  readonly watch: ProgramWatch
}

/** The end of a node's report, which knows exit codes and nothing else. */
export interface SaidByNode {
  readonly status: 'completed' | 'failed'
  readonly exitCodes: readonly (number | null)[]
  readonly error: string | null
  /** Outputs were asked for, and none came. */
  readonly lacksOutputs: boolean
}

/** What the runner script of an attempt knows of its end. */
export interface SaidByRunner {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly endedBy: 'itself' | 'cancel' | 'deadline' | 'leaving'
  /** Why the program never ran. */
  readonly startError: string | null
  readonly note: string | null
  readonly artifacts: readonly ArtifactEntry[]
  /** Why some of what it left is not at the hub. */
  readonly outputError: string | null
}

const SIGNALS = Object.entries(constants.signals)

export function endByNode(ending: Ending, said: SaidByNode): EndedReport {
  const codes = said.exitCodes.filter(code => code !== null)
  const code = codes.find(each => each !== 0) ?? codes[0] ?? null
  const { exitCode, signal } = exitOf(code)
  if (ending.canceledBy !== null) return ended(ending, 'canceled', { error: ending.canceledBy, exitCode, signal })
  if (said.status === 'completed') {
    const unknown = code === null ? 'exit code unknown' : null
    if (!said.lacksOutputs) return ended(ending, 'completed', { exitCode, signal, note: unknown })
    const error = 'its outputs could not be kept: its worker ended it without a word from the runner script'
    return ended(ending, 'failed', { error, exitCode, signal, note: unknown })
  }
  const judged = outcomeOf({ ...heardOf(ending.watch), ...exitOf(code), deadlinePassed: false, canceledBy: null })
  const error =
    said.error ?? (code === null || code === 0 ? 'its worker reported a failure without a reason' : judged.error)
  return ended(ending, 'failed', { error, exitCode, signal })
}

export function endByRunner(ending: Ending, said: SaidByRunner): EndedReport {
  const { exitCode, signal, note } = said
  const exit = { exitCode, signal, note, artifacts: [...said.artifacts] }
  if (said.startError !== null) return ended(ending, 'failed', { ...exit, error: said.startError })
  if (said.endedBy === 'leaving' && ending.canceledBy === null)
    return ended(ending, 'lost', { ...exit, artifacts: [], error: 'its worker was shut down' })
  const canceledBy = said.endedBy === 'cancel' || said.endedBy === 'leaving' ? (ending.canceledBy ?? 'canceled') : null
  const judged = outcomeOf({
    ...heardOf(ending.watch),
    exitCode,
    signal,
    deadlinePassed: said.endedBy === 'deadline',
    canceledBy,
  })
  const told = { ...exit, error: judged.error, note: joined(judged.note, note) }
  if (said.outputError === null) return ended(ending, judged.outcome, told)
  const text = `its outputs could not be kept: ${said.outputError}`
  if (judged.outcome === 'completed') return ended(ending, 'failed', { ...told, error: text })
  return ended(ending, judged.outcome, { ...told, note: joined(told.note, text) })
}

/** The worker goes, the job does not: it is queued again. */
export function endByLeaving(ending: Ending): EndedReport {
  if (ending.canceledBy !== null) return ended(ending, 'canceled', { error: ending.canceledBy })
  return ended(ending, 'lost', { error: 'its worker was shut down' })
}

function heardOf(watch: ProgramWatch) {
  return { finish: watch.finish, lastStderr: watch.lastStderr, oomLimitText: null }
}

function ended(ending: Ending, outcome: EndedReport['outcome'], more: Partial<EndedReport>): EndedReport {
  const { fence, now, startedAt, watch } = ending
  const { value, note } = watch.result
  const nothing = { exitCode: null, signal: null, error: null, usage: null }
  return {
    kind: 'ended',
    fence,
    at: now,
    outcome,
    startedAt,
    ...nothing,
    ...more,
    result: (value ?? null) as EndedReport['result'],
    note: joined(more.note ?? null, note),
  }
}

/** Negative codes are signals. */
function exitOf(code: number | null): { readonly exitCode: number | null; readonly signal: string | null } {
  if (code === null || code >= 0) return { exitCode: code, signal: null }
  return { exitCode: null, signal: SIGNALS.find(([, number]) => number === -code)?.[0] ?? `signal ${-code}` }
}

function joined(...notes: readonly (string | null)[]): string | null {
  return notes.filter(note => note !== null).join('; ') || null
}

/** What is known once a program has ended and both streams are drained. */
export interface ProgramEnd {
  readonly finish: { readonly status: string; readonly message: string | null; readonly error: string | null } | null
  readonly exitCode: number | null
  readonly signal: string | null
  readonly oomLimitText: string | null
  readonly deadlinePassed: boolean
  readonly canceledBy: string | null
  readonly lastStderr: readonly string[]
}

export interface ProgramOutcome {
  readonly outcome: 'completed' | 'failed' | 'canceled' | 'timed_out'
  readonly error: string | null
  readonly note: string | null
}

/** The outcome table: rows from the bottom win, so a cancel beats a deadline beats memory beats what the program said. */
export function outcomeOf(end: ProgramEnd): ProgramOutcome {
  if (end.canceledBy !== null) return { outcome: 'canceled', error: end.canceledBy, note: null }
  if (end.deadlinePassed) return { outcome: 'timed_out', error: 'Task timeout exceeded', note: null }
  if (end.oomLimitText !== null) return failed(`out of memory (limit ${end.oomLimitText})`)
  const clean = end.exitCode === 0
  if (end.finish?.status === 'failed')
    return failed(end.finish.error ?? end.finish.message ?? 'the program reported failure without a reason')
  if (clean) return { outcome: 'completed', error: null, note: noteOn(end.finish) }
  const how = end.signal === null ? `exited with code ${end.exitCode}` : `killed by ${end.signal}`
  return failed(end.finish === null ? [how, ...end.lastStderr].join('\n') : `${how} after finish`)
}

const NO_FINISH = 'no finish event'

/** What a note says besides that a program spoke no events, as most do not. */
export function newsIn(note: string | null): string | null {
  const parts = (note ?? '').split('; ').filter(part => part !== '' && part !== NO_FINISH)
  return parts.length === 0 ? null : parts.join('; ')
}

function noteOn(finish: ProgramEnd['finish']): string | null {
  if (finish === null) return NO_FINISH
  if (finish.status === 'completed') return null
  return `finish has status "${finish.status.slice(0, 50)}", neither completed nor failed: the exit code decided`
}

function failed(error: string): ProgramOutcome {
  return { outcome: 'failed', error, note: null }
}

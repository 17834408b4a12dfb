import type { JobSpec, NoopInput } from '@stoker/protocol'

export interface InlineEnd {
  readonly exitCode: number
  readonly result: JobSpec['input'] | null
  readonly stdout: string
  readonly error: string | null
}

/** Types the worker answers itself; how long they take and what they end with. */
export function inlineEnd(spec: JobSpec): { readonly runMs: number; readonly end: InlineEnd } {
  if (spec.type === 'echo')
    return { runMs: 0, end: { exitCode: 0, result: { ok: true, echo: spec.input }, stdout: '', error: null } }
  const { runMs = 0, exitCode = 0, events = [], failAt } = spec.input as Partial<NoopInput>
  const stdout = events.map(event => `${JSON.stringify(event)}\n`).join('')
  if (failAt === 'start')
    return { runMs: 0, end: { exitCode: 1, result: null, stdout: '', error: 'noop was told to fail at its start' } }
  if (failAt === 'end')
    return { runMs, end: { exitCode: 1, result: null, stdout, error: 'noop was told to fail at its end' } }
  return { runMs, end: { exitCode, result: null, stdout, error: null } }
}

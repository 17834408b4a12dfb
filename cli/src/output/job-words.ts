import { formatDuration, type JobState } from '@stoker/protocol'
import type { Paper } from './paper.ts'

/** Time-ordered ids share their first digits: people see the last twelve. */
export function shortId(id: string): string {
  return id.replaceAll('-', '').slice(-12)
}

export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at)
  return ms < 1000 ? 'now' : `${formatDuration(ms)} ago`
}

/** How long it ran, or has been running. */
export function lasted(
  of: { readonly startedAt: string | null; readonly endedAt: string | null },
  now: number,
): string {
  if (of.startedAt === null) return ''
  const end = of.endedAt === null ? now : Date.parse(of.endedAt)
  return formatDuration(Math.max(0, end - Date.parse(of.startedAt)))
}

/** Paints a text in the colour of a state. */
export function stateText(state: JobState, text: string, { color }: Paper): string {
  if (state === 'succeeded') return color.green(text)
  if (state === 'failed' || state === 'timed_out') return color.red(text)
  if (state === 'active') return color.cyan(text)
  return state === 'canceled' ? color.yellow(text) : text
}

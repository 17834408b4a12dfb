import { formatDuration } from '@stoker/protocol'
import type { Paper } from '../output/paper.ts'
import { cutTo, plainText } from '../output/plain-text.ts'
import type { View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import type { Checked } from './check-program.ts'
import { endText, type Heard } from './observation.ts'

type Report = OutputOf<'program check'>
type ReportedMistake = Report['mistakes'][number]

/** So many of a kind are shown; the rest is counted. */
const SHOWN_OF_A_KIND = 5

/** The published form of a check. */
export function reportOf({ main, mistakes }: Checked, program: string): Report {
  const { observation, outcome } = main
  return {
    ok: mistakes.every(one => one.level !== 'error'),
    program,
    run: {
      kind: observation.kind,
      exitCode: observation.exitCode,
      signal: observation.signal,
      durationMs: Math.round(observation.endedAtMs),
      ...outcome,
      lines: observation.heard.map(one => ({
        stream: one.stream,
        line: one.number,
        atMs: Math.round(one.atMs),
        event: one.said.event,
        fields: { ...one.said.fields },
      })),
    },
    mistakes: mistakes.map(one => ({ ...one })),
  }
}

/** One line of the program as Stoker understands it. */
export function heardText({ atMs, said, isEvent, stream }: Heard, { color, columns }: Paper): string {
  const { event, fields } = said
  const text = plainText(wordsOf(event, fields)).trimEnd()
  const from = isEvent ? event : `${event} (${stream})`
  const head = `${formatDuration(atMs).padStart(8)}  ${from.padEnd(13)}  `
  const kept = columns === undefined ? text : cutTo(text, Math.max(20, columns - head.length))
  return `${color.dim(head.slice(0, 10))}${isEvent ? color.cyan(head.slice(10)) : head.slice(10)}${kept}`
}

function wordsOf(event: string, fields: Readonly<Record<string, unknown>>): string {
  if (event === 'logs') return String(fields.log ?? '')
  if (event === 'text_delta') return JSON.stringify(fields.delta ?? null)
  if (event === 'text') return JSON.stringify(fields.content ?? null)
  const { status, message, ...others } = fields
  const more = Object.keys(others).length === 0 ? [] : [JSON.stringify(others)]
  return [status, message, ...more]
    .filter(one => one !== undefined && one !== '')
    .map(String)
    .join('  ')
}

export const checkView: View<Report> = {
  ids: ({ mistakes }) => mistakes.filter(one => one.level !== 'note').map(one => one.code),
  human({ run, mistakes }, paper) {
    const shown = mistakes.filter((one, at) => mistakes.slice(0, at).filter(same(one)).length < SHOWN_OF_A_KIND)
    const lines = shown.flatMap(one => mistakeLines(one, mistakes, shown, paper))
    return [endLine(run), '', ...lines, ...(lines.length === 0 ? [] : ['']), summary(mistakes)].join('\n')
  },
}

function endLine(run: Report['run']): string {
  const said = [run.outcome.replace('_', ' '), run.error?.split('\n', 1).join('') ?? null, run.note]
  const words = said.filter(one => one !== null && one !== '').join(', ')
  return `ended with ${endText({ ...run, isOutOfMemory: false })} after ${formatDuration(run.durationMs)}: ${plainText(words)}`
}

function same(one: ReportedMistake): (other: ReportedMistake) => boolean {
  return other => other.code === one.code && other.run === one.run
}

function mistakeLines(
  one: ReportedMistake,
  all: readonly ReportedMistake[],
  shown: readonly ReportedMistake[],
  { color }: Paper,
): string[] {
  const mark = { error: color.red('error  '), warning: color.yellow('warning'), note: color.dim('note   ') }[one.level]
  const place = one.line === null ? '' : `${one.stream} line ${one.line}: `
  const lines = [
    `${mark}  ${one.code}  ${place}${plainText(one.text)}`,
    `         ${color.dim(`→ ${plainText(one.todo)}`)}`,
  ]
  const hidden = all.filter(same(one)).length - SHOWN_OF_A_KIND
  const isLast = shown.filter(same(one)).at(-1) === one
  return isLast && hidden > 0 ? [...lines, `         and ${hidden} more of ${one.code}`] : lines
}

function summary(mistakes: readonly ReportedMistake[]): string {
  const count = (level: ReportedMistake['level']) => mistakes.filter(one => one.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors + warnings === 0) return 'No mistakes.'
  return `${errors} ${errors === 1 ? 'mistake' : 'mistakes'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`
}

import type { Goal } from '../goals/goal.ts'
import { type Figure, spreadOf } from '../statistics.ts'
import type { Line } from './lines.ts'

const HEAD = ['measure', 'Stoker', 'peer', 'its figure', 'ratio', 'must', 'aim', 'reached']
/** Rounds further apart than their own median by this are marked: their median is a guess. */
const WIDE = 0.5

/** The comparison as a Markdown table, which is readable on a terminal too. */
export function tableOf(lines: readonly Line[]): string {
  const rows = [HEAD, ...lines.map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  const [head, ...body] = rows.map(row => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`)
  return [head, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n')
}

function cellsOf(line: Line): string[] {
  const { title, unit, ours, theirs, peer, value, verdict, why, how } = line
  const isRatio = peer !== null
  return [
    title,
    figureText(ours, unit),
    peer ?? '–',
    isRatio ? figureText(theirs, unit) : '–',
    isRatio && value !== null ? `${value.toFixed(2)} ×` : '–',
    limitText(line, line.must),
    limitText(line, line.aim),
    [verdict, why ?? how].filter(text => text !== undefined).join(': '),
  ]
}

function limitText({ peer, better, unit }: Line, limit: number | null): string {
  if (limit === null) return '–'
  return `${better === 'higher' ? '≥' : '≤'} ${limit}${peer === null ? ` ${unit}` : ' ×'}`
}

function figureText(figure: Figure | null, unit: Goal['unit']): string {
  if (figure === null) return 'not measured'
  const { median, min, max } = figure
  return `${numberText(median)} ${unit} (${numberText(min)}–${numberText(max)})${spreadOf(figure) > WIDE ? ' ~' : ''}`
}

function numberText(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

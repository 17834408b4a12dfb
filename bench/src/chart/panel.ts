import { svgText } from './svg-text.ts'

/** A line of a panel; hollow points were not measured the way the others were, the legend says how. */
export interface Series {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number; readonly isHollow?: boolean }[]
}

export interface Panel {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly series: readonly Series[]
}

export const PANEL = { width: 400, height: 352 } as const

const PLOT = { left: 62, top: 44, right: 376, bottom: 262 } as const
const COLOURS = ['#0b6e99', '#c2410c', '#4d7c0f', '#7e22ce'] as const
const LEGEND_LINE = 14

/** Both axes count in powers of ten: a cost that grows with the backlog climbs, one that does not stays flat. */
export function panelSvg({ title, xLabel, yLabel, series }: Panel): string {
  const all = series.flatMap(({ points }) => points)
  const xs = decadesOf(all.map(({ x }) => x))
  const ys = decadesOf(all.map(({ y }) => y))
  const across = scale(xs, PLOT.left, PLOT.right)
  const up = scale(ys, PLOT.bottom, PLOT.top)
  return [
    text(PANEL.width / 2, 22, title, 'middle', 14, 'bold'),
    ...xs.map(
      x => line(across(x), PLOT.top, across(x), PLOT.bottom) + text(across(x), PLOT.bottom + 16, short(x), 'middle'),
    ),
    ...ys.map(y => line(PLOT.left, up(y), PLOT.right, up(y)) + text(PLOT.left - 6, up(y) + 4, short(y), 'end')),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 34, xLabel, 'middle'),
    `<g transform="rotate(-90)">${text(-(PLOT.top + PLOT.bottom) / 2, 16, yLabel, 'middle')}</g>`,
    ...series.map((one, i) => lineSvg(one, COLOURS[i % COLOURS.length] ?? '#000', across, up)),
    ...(series.length === 1
      ? (series[0]?.points ?? []).map(({ x, y }) => text(across(x), up(y) - 9, figure(y), 'middle'))
      : []),
    ...(series.length === 1 ? [] : series.map(({ name }, i) => legendSvg(name, i))),
  ].join('\n')
}

/** The powers of ten around the values, at least two of them. */
export function decadesOf(values: readonly number[]): readonly number[] {
  const above = values.filter(value => value > 0)
  const low = Math.floor(Math.log10(Math.min(...above)) + 1e-9)
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...above)) - 1e-9))
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
}

function scale(decades: readonly number[], from: number, to: number): (value: number) => number {
  const low = Math.log10(decades[0] ?? 1)
  const high = Math.log10(decades.at(-1) ?? 10)
  return value => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
}

function lineSvg({ points }: Series, colour: string, across: (x: number) => number, up: (y: number) => number): string {
  const at = points.map(({ x, y }) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`)
  const dots = points.map(({ x, y, isHollow }) => {
    const fill = isHollow === true ? '#fff' : colour
    return `<circle cx="${across(x).toFixed(1)}" cy="${up(y).toFixed(1)}" r="3.5" fill="${fill}" stroke="${colour}" stroke-width="1.5"/>`
  })
  return `<polyline points="${at.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`
}

function legendSvg(name: string, index: number): string {
  const y = PLOT.bottom + 54 + index * LEGEND_LINE
  const colour = COLOURS[index % COLOURS.length]
  return `<rect x="${PLOT.left + 8}" y="${y - 8}" width="10" height="4" fill="${colour}"/>${text(PLOT.left + 23, y - 2, name, 'start', 11)}`
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#ddd"/>`
}

function text(x: number, y: number, words: string, anchor: string, size = 11, weight = 'normal'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}">${svgText(words)}</text>`
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2)
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`
  return value >= 1000 ? `${value / 1000} k` : String(Number(value.toPrecision(1)))
}

import { svgText } from '../chart/svg-text.ts'
import { type Frame, weightOf } from './frame.ts'
import type { Flame } from './read-profile.ts'

const WIDTH = 1200
const ROW = 16
const HEAD = 28
/** Narrower ones cannot be seen, and there are thousands. */
const NARROWEST = 1.5
const LETTER = 6.1
const COLOURS = { bundle: '#f2a65a', node: '#9cc5a1', engine: '#c9ced6' } as const

/** Who called whom, from below upwards, as wide as what it took. */
export function flameSvg(title: string, { frames, total }: Flame): string {
  const all = weightOf(frames)
  const perUnit = WIDTH / Math.max(all, 1)
  const height = HEAD + depthOf(frames, perUnit) * ROW
  const words = svgText(`${title}: ${total}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="DejaVu Sans Mono, monospace" font-size="10" fill="#222">
<title>${words}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="4" y="18" font-size="13">${words}</text>
${rowsOf(frames, 0, height - ROW, { perUnit, all }).join('\n')}
</svg>
`
}

interface Scale {
  readonly perUnit: number
  readonly all: number
}

function rowsOf(frames: readonly Frame[], left: number, top: number, scale: Scale): string[] {
  const parts: string[] = []
  let x = left
  for (const frame of frames) {
    const width = frame.weight * scale.perUnit
    if (width >= NARROWEST)
      parts.push(boxOf(frame, { x, top, width }, scale.all), ...rowsOf(frame.callees, x, top - ROW, scale))
    x += width
  }
  return parts
}

function boxOf(
  { name, weight, origin }: Frame,
  { x, top, width }: { readonly x: number; readonly top: number; readonly width: number },
  all: number,
): string {
  const share = `${((100 * weight) / all).toFixed(1)} %`
  const letters = Math.floor((width - 4) / LETTER)
  const label = `${name} ${share}`.length <= letters ? `${name} ${share}` : name.slice(0, letters)
  const words =
    letters < 3 ? '' : `<text x="${(x + 2).toFixed(1)}" y="${top + ROW - 5}" stroke="none">${svgText(label)}</text>`
  return `<g><title>${svgText(`${name} ${share}`)}</title><rect x="${x.toFixed(1)}" y="${top}" width="${width.toFixed(1)}" height="${ROW}" fill="${COLOURS[origin]}" stroke="#fff" stroke-width="0.5"/>${words}</g>`
}

function depthOf(frames: readonly Frame[], perUnit: number): number {
  const seen = frames.filter(({ weight }) => weight * perUnit >= NARROWEST)
  return seen.length === 0 ? 0 : 1 + Math.max(...seen.map(({ callees }) => depthOf(callees, perUnit)))
}

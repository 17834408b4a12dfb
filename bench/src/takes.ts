import type { MeasureName } from './config.ts'
import type { Findings } from './goals/goals.ts'
import { isQuick, paceMs, type Stretch } from './machine/disturbance.ts'

/** What one go at a measure found, and what the machine was like meanwhile. */
export interface Take {
  readonly findings: Findings
  readonly stretch: Stretch
}

export interface TakesPorts {
  readonly take: (name: MeasureName) => Promise<Take>
  /** Waits a while for the processor to be as quick as it has been. */
  readonly calm: () => Promise<void>
  /** Steady, in ms. */
  readonly now: () => number
  /** After so long nothing is begun again. */
  readonly repeatMs: number
}

/** A host that is slow for an hour stays slow; more would only be hope. */
const MOST_TAKES = 3
/** These take many minutes, in which the machine has good and bad times anyway. */
const TAKEN_ONCE: readonly MeasureName[] = ['soak', 'curves']

/**
 * Measures everything in order, and afterwards again what the processor was slow around. Which take counts is decided by how quick
 * the processor was, never by what was found.
 */
export async function takeAll(names: readonly MeasureName[], ports: TakesPorts): Promise<Map<MeasureName, Take[]>> {
  const takes = new Map<MeasureName, Take[]>()
  for (const name of names) takes.set(name, [await ports.take(name)])
  const until = ports.now() + ports.repeatMs
  for (let round = 1; round < MOST_TAKES; round += 1)
    for (const [name, taken] of takes) {
      if (TAKEN_ONCE.includes(name) || ports.now() >= until) continue
      if (isQuick(paceMs(bestOf(taken).stretch), stretchesOf(takes))) continue
      await ports.calm()
      taken.push(await ports.take(name))
    }
  return takes
}

/** The take around which the processor was quickest. */
export function bestOf(takes: readonly Take[]): Take {
  return takes.reduce((best, take) => (paceMs(take.stretch) < paceMs(best.stretch) ? take : best))
}

/** In sentences, what was measured more than once. */
export function repeats(takes: ReadonlyMap<MeasureName, readonly Take[]>): string[] {
  return [...takes]
    .filter(([, taken]) => taken.length > 1)
    .map(([name, taken]) => {
      const times = taken.map(({ stretch }) => paceMs(stretch).toFixed(1)).join(', then ')
      return `${name} was measured ${taken.length} times (the same work took ${times} ms); the quickest of these times counts.`
    })
}

function stretchesOf(takes: ReadonlyMap<MeasureName, readonly Take[]>): Stretch[] {
  return [...takes.values()].flat().map(({ stretch }) => stretch)
}

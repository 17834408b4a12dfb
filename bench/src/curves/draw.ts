import type { Panel, Series } from '../chart/panel.ts'
import type { Point } from './look-at.ts'

/** Everything the curves are drawn from, as it is written to disk. */
export interface Curves {
  readonly at: string
  readonly machine: string
  readonly queued: readonly Point[]
  readonly workers: readonly Point[]
  /** By the engine alone, in one process: the pass after a submit to an idle fleet. */
  readonly simulated: readonly { readonly workers: number; readonly planMs: number }[]
}

export function queuedPanels({ queued }: Curves): readonly Panel[] {
  return panelsOf(queued, 'queued jobs', 'hub killed → serving, worker back', {
    name: 'planning pass',
    points: planOf(queued),
  })
}

export function workerPanels({ workers, simulated }: Curves): readonly Panel[] {
  const alone = simulated.map(({ workers: x, planMs: y }) => ({ x, y, isHollow: true }))
  return panelsOf(
    workers,
    'connected workers',
    'hub killed → all workers back',
    { name: 'planning pass', points: planOf(workers) },
    { name: 'planning pass for a GPU job, engine alone', points: alone },
  )
}

function panelsOf(points: readonly Point[], xLabel: string, restart: string, ...plans: Series[]): readonly Panel[] {
  const of = (name: string, y: (point: Point) => number): Series => ({
    name,
    points: points.map(point => ({ x: point.x, y: y(point) })),
  })
  const times = [
    of('submit → durable', p => p.submitMs),
    of('submit → start at an idle worker', p => p.startMs),
    ...plans,
  ]
  return [
    { title: 'Times, medians', xLabel, yLabel: 'ms', series: times },
    { title: 'Memory of the hub', xLabel, yLabel: 'MB', series: [of('memory', p => p.memoryMb)] },
    { title: restart, xLabel, yLabel: 's', series: [of('restart', p => p.restartS)] },
  ]
}

function planOf(points: readonly Point[]): Series['points'] {
  return points.map(({ x, planMs }) => ({ x, y: planMs }))
}

import type { FsyncTime } from './fsync-time.ts'

/** One stretch of the run: what others took of the processors meanwhile, what the disk took for a sync at its start, and what the same work took at its start and end. */
export interface Stretch {
  readonly name: string
  /** From 0 to 1 of the whole machine; null where the kernel does not tell. */
  readonly foreignShare: number | null
  /** From 0 to 1 of what was asked of the processors: what other virtual machines got of it. */
  readonly stolenShare: number | null
  readonly fsync: FsyncTime
  readonly workMs: number
}

/** Helpers of ours that ended unnoticed and the system itself take some percent; a neighbour's test run takes a core. */
const FOREIGN_SHARE = 0.15
/** A disk that is ours alone varies by less than this from its own best. */
const FSYNC_FACTOR = 3
/** Slower than its own best by more than this, a processor serves others, too. */
const WORK_FACTOR = 1.3

/** What the same work would have taken in the midst of a stretch: longer than around it by what was stolen meanwhile. */
export function paceMs({ workMs, stolenShare }: Stretch): number {
  return workMs / (1 - Math.min(0.9, stolenShare ?? 0))
}

/** Whether the same work takes about as long as at the best of these times. */
export function isQuick(ms: number, stretches: readonly Stretch[]): boolean {
  return ms <= Math.min(...stretches.map(paceMs)) * WORK_FACTOR
}

/** In sentences, what made the figures doubtful; empty on a machine that was ours alone. */
export function disturbances(stretches: readonly Stretch[]): string[] {
  const best = Math.min(...stretches.map(({ fsync }) => fsync.p50Ms))
  const busy = stretches.filter(({ foreignShare }) => (foreignShare ?? 0) > FOREIGN_SHARE)
  const slow = stretches.filter(({ fsync }) => fsync.p50Ms > best * FSYNC_FACTOR)
  const shares = busy.map(({ name, foreignShare }) => `${name} ${Math.round((foreignShare ?? 0) * 100)} %`)
  const quickest = Math.min(...stretches.map(paceMs))
  const tired = stretches.filter(stretch => !isQuick(paceMs(stretch), stretches))
  const works = tired.map(stretch => `${stretch.name} ${paceMs(stretch).toFixed(1)} ms`)
  const syncs = slow.map(({ name, fsync }) => `${name} ${fsync.p50Ms.toFixed(2)} ms`)
  return [
    ...(busy.length === 0 ? [] : [`others used the processors during ${shares.join(', ')}`]),
    ...(slow.length === 0 ? [] : [`a sync took ${best.toFixed(2)} ms at best, but before ${syncs.join(', ')}`]),
    ...(tired.length === 0
      ? []
      : [`the same work took the processor ${quickest.toFixed(1)} ms at best, but around ${works.join(', ')}`]),
  ]
}

import type { JobSpec } from '@stoker/protocol'
import { RANKS_PROGRAM, rankArgv } from '../executors/ranks.ts'

/** Where a container finds what starts the ranks. */
const RANKS_TARGET = '/stoker/ranks.py'

/** A job without devices has one rank for `gpus`, as has one that says nothing of ranks. */
export function rankCount({ ranks }: Pick<JobSpec, 'ranks'>, gpus: number): number {
  if (ranks === null) return 1
  return ranks === 'gpus' ? Math.max(1, gpus) : ranks
}

/** The program once for every rank, if the job says so. */
export function inRanks(
  argv: readonly string[],
  { ranks, container }: JobSpec,
  gpus: number,
  python: string | null,
): readonly string[] {
  if (ranks === null) return argv
  const count = rankCount({ ranks }, gpus)
  if (container !== null) return rankArgv(argv, count, { python: 'python3', launcher: RANKS_TARGET, isAlone: true })
  if (python === null) throw new Error('ranks need Python, this worker has none')
  return rankArgv(argv, count, { python, launcher: RANKS_PROGRAM, isAlone: false })
}

export function rankPaths({ ranks }: JobSpec): readonly string[] {
  return ranks === null ? [] : [RANKS_PROGRAM]
}

export function rankMounts({ ranks }: JobSpec) {
  return ranks === null ? [] : [{ source: RANKS_PROGRAM, target: RANKS_TARGET, readOnly: true }]
}

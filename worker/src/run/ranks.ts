import type { JobSpec } from '@stoker/protocol'
import { RANKS_PROGRAM, rankArgv } from '../executors/ranks.ts'

/** Where a container finds what starts the ranks. */
const RANKS_TARGET = '/stoker/ranks.py'

/** The program once for every rank, if the job says so; a job without devices has one rank for `gpus`. */
export function inRanks(
  argv: readonly string[],
  { ranks, container }: JobSpec,
  gpus: number,
  python: string | null,
): readonly string[] {
  if (ranks === null) return argv
  const count = ranks === 'gpus' ? Math.max(1, gpus) : ranks
  if (container !== null) return rankArgv(argv, count, { python: 'python3', launcher: RANKS_TARGET })
  if (python === null) throw new Error('ranks need Python, this worker has none')
  return rankArgv(argv, count, { python, launcher: RANKS_PROGRAM })
}

export function rankPaths({ ranks }: JobSpec): readonly string[] {
  return ranks === null ? [] : [RANKS_PROGRAM]
}

export function rankMounts({ ranks }: JobSpec) {
  return ranks === null ? [] : [{ source: RANKS_PROGRAM, target: RANKS_TARGET, readOnly: true }]
}

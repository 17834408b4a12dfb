import { fileURLToPath } from 'node:url'

/** The program that starts another once for every rank. */
export const RANKS_PROGRAM = fileURLToPath(new URL('./ranks.py', import.meta.url))

/** Between SIGTERM and SIGKILL for ranks that are to end because another failed. */
const GRACE_S = 5

export interface RankPlace {
  /** As the program will see them. */
  readonly python: string
  readonly launcher: string
  /** A stop reaches the launcher alone, as it does in a container; everywhere else it reaches every process. */
  readonly isAlone: boolean
}

/** The words that start a program once for every rank. */
export function rankArgv(
  argv: readonly string[],
  count: number,
  { python, launcher, isAlone }: RankPlace,
): readonly string[] {
  return [python, '-I', launcher, String(count), String(GRACE_S), isAlone ? 'by-us' : 'by-others', ...argv]
}

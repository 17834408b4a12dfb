import { fileURLToPath } from 'node:url'

/** The program that starts another once for every rank. */
export const RANKS_PROGRAM = fileURLToPath(new URL('./ranks.py', import.meta.url))

/** Between SIGTERM and SIGKILL for ranks that are to end because another failed. */
const GRACE_S = 5

/** `python` and `launcher` as the program will see them. */
export function rankArgv(
  argv: readonly string[],
  count: number,
  { python, launcher }: { readonly python: string; readonly launcher: string },
): readonly string[] {
  return [python, '-I', launcher, String(count), String(GRACE_S), ...argv]
}

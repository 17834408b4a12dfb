import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again and again until the answer is yes; a wait that is too long says what it waited for. */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean>,
  { everyMs = 10, withinMs = 30_000 }: { readonly everyMs?: number; readonly withinMs?: number } = {},
): Promise<void> {
  const until = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(`waited ${withinMs / 1000} s for ${what}, it did not happen`)
    await sleep(everyMs)
  }
}

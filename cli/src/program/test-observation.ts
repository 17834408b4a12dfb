import { Listener } from './listener.ts'
import type { Observation } from './observation.ts'

/** What a test knows of a run: lines of stdout with the time they came at, or only the lines. */
type SaidAt = string | readonly [atMs: number, line: string]

/** A run of one second that ended well, as far as nothing else is said. */
export function aRun(lines: readonly SaidAt[], facts: Partial<Observation> = {}): Observation {
  const listener = new Listener()
  for (const [at, said] of lines.entries()) {
    const [atMs, line] = typeof said === 'string' ? [at, said] : said
    const [stream, text] = line.startsWith('2>') ? (['stderr', line.slice(2)] as const) : (['stdout', line] as const)
    listener.take(stream, Buffer.from(`${text}\n`), atMs)
  }
  return {
    kind: 'once',
    heard: listener.heard,
    exitCode: 0,
    signal: null,
    isOutOfMemory: false,
    endedAtMs: 1000,
    hasTimedOut: false,
    tasksSent: 0,
    inputEndedAtMs: 0,
    askedAtMs: null,
    wasKilled: false,
    longestNapMs: 0,
    ...facts,
  }
}

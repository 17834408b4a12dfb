import { formatDuration } from '@stoker/protocol'
import { errorAt, type Found, warningAt } from '../mistake.ts'
import { eventsOf, type Observation } from '../observation.ts'

/** Shorter runs say nothing: starting a program takes a part of that. */
const SHORTEST_MS = 500
/** All came in a small last part of the run. */
const LAST_PART = 0.25
const BURST_PART = 0.05
/** With a terminal the same lines came over a large part of it. */
const SPREAD_PART = 0.2

/** Everything arrived at once at the end, and the check was awake to see it: buffered, or only silent until then. */
export function looksBuffered(run: Observation): boolean {
  const { first, last } = arrivals(run)
  if (run.hasTimedOut || run.endedAtMs < SHORTEST_MS || first === null || last === null) return false
  if (run.longestNapMs > run.endedAtMs * LAST_PART) return false
  return first >= run.endedAtMs * (1 - LAST_PART) && last - first <= run.endedAtMs * BURST_PART
}

/** The proof: a second run whose output went to a terminal, where no one gathers lines. Null: there was none. */
export function bufferMistakes(run: Observation, onTerminal: Observation | null): Found[] {
  const { first } = arrivals(run)
  const lines = run.heard.filter(one => one.stream === 'stdout').length
  const text = `all ${lines} lines on stdout came at once after ${formatDuration(first ?? 0)}, when it ended`
  const todo = 'flush after each line: print(..., flush=True), fflush(stdout), or emit.py'
  if (onTerminal === null)
    return [warningAt(null, { code: 'stdout.late', text: `${text}; it may gather its output`, todo })]
  const { first: from, last: to } = arrivals(onTerminal)
  if (from === null || to === null || to - from < onTerminal.endedAtMs * SPREAD_PART) return []
  return [errorAt(null, { code: 'stdout.buffered', text: `${text}: stdout is buffered`, todo })]
}

/** Two events at least: one alone has nothing to be gathered with. */
function arrivals(run: Observation): { readonly first: number | null; readonly last: number | null } {
  const events = eventsOf(run)
  if (events.length < 2) return { first: null, last: null }
  return { first: events[0]?.atMs ?? null, last: events.at(-1)?.atMs ?? null }
}

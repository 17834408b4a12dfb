import type { Found, Mistake } from './mistake.ts'
import type { Limits, Observation } from './observation.ts'
import { bufferMistakes, looksBuffered } from './rules/buffer-rule.ts'
import { lineMistakes } from './rules/line-rules.ts'
import { onceMistakes } from './rules/once-rules.ts'
import { sessionMistakes } from './rules/session-rules.ts'
import { stopMistakes } from './rules/stop-rules.ts'

export interface Runs {
  /** The run as a worker would do it: `once` or `session`. */
  readonly main: Observation
  readonly onTerminal: Observation | null
  readonly stop: Observation | null
}

/** Every mistake that the runs show, worst first, then in the order of the lines. */
export function judge({ main, onTerminal, stop }: Runs, limits: Limits): Mistake[] {
  const found = [
    ...main.heard.flatMap(lineMistakes),
    ...(main.kind === 'session' ? sessionMistakes(main, limits) : onceMistakes(main, limits)),
    ...(main.kind === 'once' && looksBuffered(main) ? bufferMistakes(main, onTerminal) : []),
  ]
  const all = [...withRun(found, main), ...(stop === null ? [] : withRun(stopMistakes(stop, limits), stop))]
  const rank = { error: 0, warning: 1, note: 2 }
  return all.sort((a, b) => rank[a.level] - rank[b.level])
}

function withRun(found: readonly Found[], { kind }: Observation): Mistake[] {
  return found.map(one => ({ ...one, run: kind }))
}

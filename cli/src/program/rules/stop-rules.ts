import { formatDuration } from '@stoker/protocol'
import { errorAt, type Found, note } from '../mistake.ts'
import type { Limits, Observation } from '../observation.ts'

/** Whether it ended when it was asked to. How is its own affair: the task counts as canceled. */
export function stopMistakes(run: Observation, { graceMs }: Limits): Found[] {
  if (run.askedAtMs === null)
    return [
      note({
        code: 'stop.not_tried',
        text: 'it ended before it could be asked to stop, so that was not looked at',
        todo: 'check it with an --input that takes longer',
      }),
    ]
  if (!run.wasKilled) return []
  return [
    errorAt(null, {
      code: 'stop.ignored',
      text: `it did not end within ${formatDuration(graceMs)} after SIGTERM and had to be killed`,
      todo: 'end on SIGTERM; in a shell script start the program with exec, so that the signal reaches it',
    }),
  ]
}

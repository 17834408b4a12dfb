import type { ActiveJob } from '../../engine/state.ts'
import type { Variant } from './provider-note.ts'

/**
 * What it means that a worker comes with empty hands. Old workers do one thing at a time: one that asks does not
 * execute what it has. ask: it has nothing, so it may get something. offer: it has not begun with what it has, and gets
 * it again. interrupted: it had begun, and that is over. wait: nothing can be told.
 */
export type Idle = 'ask' | 'offer' | 'interrupted' | 'wait'

export function idleMeans(
  attempt: Pick<ActiveJob, 'state' | 'cancelBy'> | null,
  worker: { readonly variant: Variant | null; readonly isHeld: boolean; readonly hasSecond: boolean },
): Idle {
  if (attempt === null) return 'ask'
  if (worker.isHeld || worker.hasSecond || attempt.cancelBy !== null) return 'wait'
  // It asks while it works, and knows by its id what it was offered before.
  if (worker.variant === 'capable') return 'offer'
  return attempt.state === 'running' ? 'interrupted' : 'offer'
}

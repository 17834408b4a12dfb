import { planWith } from './pass.ts'
import type { Policy } from './policy.ts'

/** Each job goes to the fullest worker it fits, so that large gaps stay whole. */
export const packed: Policy = {
  name: 'packed',
  plan: (view, now) => planWith(room => room.freeShare, view, now),
}

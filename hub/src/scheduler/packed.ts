import { planWith } from './pass.ts'
import type { Policy } from './policy.ts'
import type { Room } from './room.ts'

const byFreeShare = (room: Room): number => room.freeShare

/** Each job goes to the fullest worker it fits, so that large gaps stay whole. */
export const packed: Policy = {
  name: 'packed',
  plan: (view, now) => planWith(() => byFreeShare, view, now),
}

import { planWith } from './pass.ts'
import type { Policy } from './policy.ts'
import type { Room } from './room.ts'

const byGpus = (room: Room): number => -room.gpuShare
const byCpus = (room: Room): number => -room.cpuShare

/** Each job goes to the worker with the most free of what it mainly needs, so that load is even and neighbours are few. */
export const spread: Policy = {
  name: 'spread',
  plan: (view, now) => planWith(({ gpus }) => (gpus > 0 ? byGpus : byCpus), view, now),
}

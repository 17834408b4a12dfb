import { planWith } from './pass.ts'
import type { Policy } from './policy.ts'

/** Each job goes to the worker with the most free of what it mainly needs, so that load is even and neighbours are few. */
export const spread: Policy = {
  name: 'spread',
  plan: (view, now) => planWith((room, { gpus }) => -(gpus > 0 ? room.gpuShare : room.cpuShare), view, now),
}

import type { Rules } from '../engine/decide/emit.ts'
import { shapeOf } from '../engine/shape-of.ts'
import { unschedulable } from './unschedulable.ts'

/** What the engine asks the scheduler while it decides. */
export const schedulingRules: Rules = {
  unschedulable: (state, bucket) => {
    const shape = state.buckets.get(bucket)?.shape
    return shape === undefined ? null : unschedulable(state, shape)
  },
  unschedulableSpec: (state, job) => unschedulable(state, shapeOf(job.spec)),
}

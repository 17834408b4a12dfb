import { PlainHistogram } from './api/metrics/histogram.ts'
import type { Policy } from './scheduler/policy.ts'

/** How long planning takes. A pass with nothing to look at is none: it would hide the others among its zeros. */
export class PlanFigures {
  readonly seconds = new PlainHistogram({
    name: 'stoker_plan_seconds',
    help: 'Time of a planning pass, from live state to what starts where',
    buckets: [0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
  })

  /** The same policy, with its passes measured. */
  timed(policy: Policy): Policy {
    return {
      name: policy.name,
      plan: (view, now) => {
        const isQuiet = view.dirtyBuckets.size === 0 && view.dirtyWorkers.size === 0
        const since = performance.now()
        const plan = policy.plan(view, now)
        if (!isQuiet) this.seconds.observe((performance.now() - since) / 1000)
        return plan
      },
    }
  }
}

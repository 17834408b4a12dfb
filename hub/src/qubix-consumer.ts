import type { Log } from '@stoker/files'
import { shapeOf } from './engine/shape-of.ts'
import type { WorkerState } from './engine/state.ts'
import type { ConsumerContext } from './gateways/qubix/api/context.ts'
import { offerByTags } from './gateways/qubix/api/offer-by-tags.ts'
import { neverRefusals } from './scheduler/fit.ts'
import { schedulingRules } from './scheduler/rules.ts'

type Made = 'offerOf' | 'refusalsOf' | 'unschedulable' | 'failed'

/** What the routes of QUBIX customers need of the scheduler and the log, put to what they need of the hub. */
export function consumerContext({
  log,
  ...needed
}: Omit<ConsumerContext, Made> & { readonly log: Log }): ConsumerContext {
  return {
    ...needed,
    offerOf: offerByTags,
    refusalsOf: spec => {
      const shape = shapeOf(spec)
      const texts = (worker: WorkerState) => neverRefusals(shape, worker).map(({ text }) => text)
      return worker => texts(worker).join('; ') || null
    },
    unschedulable: schedulingRules.unschedulable,
    failed: error => log('error', `qubix: ${error instanceof Error ? error.stack : String(error)}`),
  }
}

import type { Shape } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import { FitByClass, looksAtEach, neverRefusals } from './fit.ts'
import type { Refusal } from './refusal.ts'

/** Why no worker that is known could ever run the shape, told by the closest one; null if one could. */
export function unschedulable(state: Pick<State, 'workers'>, shape: Shape): string | null {
  const fit = new FitByClass(shape)
  for (const worker of state.workers.values()) if (fit.with(worker)) return null
  return state.workers.size === 0 ? 'no worker has joined this hub yet' : closestRefusals(state, shape)
}

function closestRefusals({ workers }: Pick<State, 'workers'>, shape: Shape): string {
  let closest: Refusal[] | null = null
  const seen = new Set<string>()
  for (const worker of workers.values()) {
    const look = looksAtEach(shape) ? worker.id : worker.classKey
    if (seen.has(look)) continue
    seen.add(look)
    const reasons = neverRefusals(shape, worker)
    if (closest === null || reasons.length < closest.length) closest = reasons
  }
  return (closest ?? []).map(({ text }) => text).join('; ')
}

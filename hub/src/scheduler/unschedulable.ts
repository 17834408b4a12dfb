import type { Shape } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import { misfit, misfits } from './fit.ts'

/** Why no worker that is known could ever run the shape, told by the closest one; null if one could. */
export function unschedulable(state: Pick<State, 'workers'>, shape: Shape): string | null {
  let closest: string[] | null = null
  const seen = new Set<string>()
  for (const worker of state.workers.values()) {
    const look = shape.worker === null ? worker.classKey : worker.id
    if (seen.has(look)) continue
    seen.add(look)
    if (misfit(shape, worker) === null) return null
    const reasons = misfits(shape, worker)
    if (closest === null || reasons.length < closest.length) closest = reasons
  }
  return closest === null ? 'no worker has joined this hub yet' : closest.join('; ')
}

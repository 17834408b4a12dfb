import { CrowdedHouse } from '../crowded-house.ts'
import { quantile } from '../statistics.ts'

const EVENTS = 60

/** The pass after a submit to an idle fleet of any size, by the engine alone: no machine here holds so many sockets. */
export function planMsSimulated(workers: number): number {
  const crowd = new CrowdedHouse({ shapes: 10, owners: 1, workers, shapesOfOwner: 0, jobsOfShape: 0 })
  for (let i = 0; i < EVENTS; i += 1) {
    crowd.submit('owner-0', [i])
    if (crowd.house.state.active.size > 0) crowd.endOne()
  }
  return quantile(crowd.passMs, 0.5)
}

import { CrowdedHouse } from '../crowded-house.ts'
import { quantile } from '../statistics.ts'

const EVENTS = 120

/** The pass after a submit of a GPU job to an idle fleet of any size, by the engine alone: no machine here holds so many sockets. */
export function planMsSimulated(workers: number): number {
  const crowd = new CrowdedHouse({ shapes: 10, owners: 1, workers, shapesOfOwner: 0, jobsOfShape: 0 })
  const ofSubmits: number[] = []
  for (let i = 0; i < EVENTS; i += 1) {
    crowd.passMs.length = 0
    crowd.submit('owner-0', [i])
    ofSubmits.push(...crowd.passMs)
    crowd.endOne()
  }
  return quantile(ofSubmits, 0.5)
}

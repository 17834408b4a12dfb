import { explainJob } from '../../../hub/src/scheduler/explain/explain-job.ts'
import { packed } from '../../../hub/src/scheduler/packed.ts'
import { type Crowd, CrowdedHouse } from '../crowded-house.ts'
import { quantile } from '../statistics.ts'
import type { Measure } from './ground.ts'

const CROWD = { shapes: 1000, owners: 100, workers: 1000 }
/** Both queue 100,000 jobs: in 1,000 buckets, and each in a bucket of its own. */
const APART = { ...CROWD, shapesOfOwner: 10, jobsOfShape: 100 }
const MIXED = { ...CROWD, shapesOfOwner: 1000, jobsOfShape: 1 }
const EVENTS = 20
const EXPLAINED = 20
/** Rounds that do not count: a hub that is asked has long compiled what it plans and explains with. */
const WARM_UP = 5
/** So long heads wait before workers are kept for them. */
const PATIENCE_S = 61

/** The planner among many: jobs end and come, time goes by, a start looks at everything, somebody asks why. */
export const measureShapes: Measure = async () => {
  const apart = watch(APART, 5)
  const mixed = watch(MIXED, 1)
  const found = (ours: readonly number[]) => ({ ours, peers: {} })
  return {
    shapesPass: found(apart.pass),
    shapesLook: found(apart.look),
    shapesCold: found(apart.cold),
    shapesExplain: found(apart.explain),
    mixedPass: found(mixed.pass),
    mixedCold: found(mixed.cold),
  }
}

function watch(of: Crowd, times: number): Readonly<Record<'pass' | 'look' | 'cold' | 'explain', readonly number[]>> {
  const crowd = new CrowdedHouse(of)
  for (let i = 0; i < PATIENCE_S; i += 1) crowd.second()
  const all = Array.from({ length: WARM_UP + times }, (_, round) => ({
    pass: passMs(crowd, round * EVENTS),
    look: lookMs(crowd),
    cold: crowd.planFromNothing(),
    explain: explainMs(crowd, round),
  }))
  const rounds = all.slice(WARM_UP)
  return {
    pass: rounds.map(({ pass }) => pass),
    look: rounds.map(({ look }) => look),
    cold: rounds.map(({ cold }) => cold),
    explain: rounds.map(({ explain }) => explain),
  }
}

function passMs(crowd: CrowdedHouse, first: number): number {
  crowd.passMs.length = 0
  for (let i = first; i < first + EVENTS; i += 1) {
    crowd.endOne()
    crowd.submit(`owner-${i % CROWD.owners}`, [i * 7])
  }
  return quantile(crowd.passMs, 0.9)
}

/** The first pass of a second thinks over for which jobs workers are kept. */
function lookMs(crowd: CrowdedHouse): number {
  crowd.second()
  crowd.passMs.length = 0
  crowd.endOne()
  return Math.max(...crowd.passMs)
}

function explainMs({ house }: CrowdedHouse, round: number): number {
  const buckets = [...house.state.queued.buckets()]
  const times = Array.from({ length: EXPLAINED }, (_, i) => {
    const bucket = buckets[((round * EXPLAINED + i) * 997) % buckets.length] ?? 0
    const job = house.state.queued.newest(bucket) ?? 0
    const startedAt = performance.now()
    explainJob(house.state, packed, job, house.now)
    return performance.now() - startedAt
  })
  return quantile(times, 0.9)
}

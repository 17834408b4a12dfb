import { PROTOCOL, parseJobSpec } from '@stoker/protocol'
import type { NewJob } from '../../hub/src/engine/commands.ts'
import { TestHouse } from '../../hub/src/engine/test-house.ts'
import { packed } from '../../hub/src/scheduler/packed.ts'
import type { Policy } from '../../hub/src/scheduler/policy.ts'
import { introduce } from './fleet/introduce.ts'

export interface Crowd {
  readonly shapes: number
  readonly owners: number
  readonly workers: number
  /** In turns: with as many as there are, every owner has jobs of every shape. */
  readonly shapesOfOwner: number
  readonly jobsOfShape: number
}

const KINDS = 10
const MEMORIES = 50

/**
 * The hub's own engine and scheduler in this process, without store and sockets: all owners have jobs queued,
 * and all workers have as much to do as they can. The times of its passes are kept.
 */
export class CrowdedHouse {
  readonly house: TestHouse
  readonly passMs: number[] = []
  readonly #jobs: readonly NewJob[]
  #submitted = 0

  constructor({ shapes, owners, workers, shapesOfOwner, jobsOfShape }: Crowd) {
    this.house = new TestHouse(this.#timed(packed))
    this.#jobs = Array.from({ length: shapes }, (_, shape) => aJobOf(shape))
    for (let worker = 0; worker < workers; worker += 1) this.#join(worker)
    for (let owner = 0; owner < owners; owner += 1) {
      const own = Array.from(
        { length: shapesOfOwner * jobsOfShape },
        (_, i) => owner * shapesOfOwner + (i % shapesOfOwner),
      )
      if (own.length > 0) this.submit(`owner-${owner}`, own)
    }
    this.passMs.length = 0
  }

  submit(owner: string, shapes: readonly number[]): void {
    const jobs = shapes.flatMap(shape => this.#jobs[shape % this.#jobs.length] ?? [])
    const first = this.#submitted
    this.#submitted += jobs.length
    this.house.submitAs(owner, ...jobs.map((job, i) => ({ ...job, id: `job-${first + i}` })))
    this.#answerOffers()
  }

  /** The running job that started first ends well; in its place others start. */
  endOne(): void {
    const [job] = this.house.state.active.keys()
    if (job === undefined) throw new Error('a job should run, none does')
    const worker = this.house.state.active.get(job)?.claim.worker ?? ''
    this.house.report(worker, this.house.ended(this.house.fenceOf(job), 'completed'))
    this.#answerOffers()
  }

  second(): void {
    this.house.pass(1, [...this.house.state.workers.keys()])
    this.#answerOffers()
  }

  /** As after a start: nothing was looked at yet. */
  planFromNothing(): number {
    const { state, now } = this.house
    const dirtyBuckets = new Set(state.queued.buckets())
    const dirtyWorkers = new Set(state.workers.keys())
    const startedAt = performance.now()
    packed.plan({ ...state, dirtyBuckets, dirtyWorkers }, now)
    return performance.now() - startedAt
  }

  #join(index: number): void {
    const rest = { epochSeen: 0, nextBatch: 1, holding: [], draining: false }
    this.house.join({ t: 'hello', protocol: PROTOCOL, ...rest, ...introduce(index) })
    this.#answerOffers()
  }

  /** Every offer is taken up at once, and nothing is kept of the past. */
  #answerOffers(): void {
    const placed = this.house.journal.flatMap(({ changes }) => changes).filter(change => change.c === 'placed')
    this.house.journal.length = 0
    const passes = this.passMs.length
    for (const { job, worker } of placed) this.house.report(worker, this.house.running(this.house.fenceOf(job)))
    this.passMs.length = passes
    this.house.journal.length = 0
  }

  #timed(policy: Policy): Policy {
    return {
      name: policy.name,
      plan: (view, now) => {
        const startedAt = performance.now()
        const plan = policy.plan(view, now)
        this.passMs.push(performance.now() - startedAt)
        return plan
      },
    }
  }
}

/** Shapes differ in the kind of machine, the number of devices and the memory they ask for. */
function aJobOf(shape: number): NewJob {
  const parsed = parseJobSpec({
    command: ['/bin/true'],
    timeout: 3600,
    resources: { gpus: 1 + (Math.floor(shape / MEMORIES) % 2), cpus: 1, memory: (1 + (shape % MEMORIES)) * 1e8 },
    placement: { tags: { require: [`kind-${Math.floor(shape / MEMORIES / 2) % KINDS}`] } },
  })
  if (!parsed.ok) throw new Error(`shape ${shape} should be a spec: ${JSON.stringify(parsed.issues)}`)
  return { id: '', spec: parsed.spec, specText: JSON.stringify(parsed.spec), retryOf: null }
}

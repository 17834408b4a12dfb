import { type JobRow, type JobType, readSpec } from '@stoker/protocol'
import type { Page } from '../../../store/port.ts'
import { gpuModelOf } from '../gpu-model.ts'
import type { ConsumerContext } from './context.ts'
import { kindOf } from './formulas/job-kind.ts'
import { scaleOf } from './formulas/run-seconds.ts'

const PER_PAGE = 100
const MOST_PAGES = 3
/** What is estimated need not know what ended a moment ago. */
const FRESH_MS = 10_000

/** Seconds of each run by the model it ran on; without a GPU, by the empty name. */
type ByModel = ReadonlyMap<string, readonly number[]>

interface Look {
  readonly at: number
  readonly runs: Promise<ByModel>
}

/** How long the newest jobs of a type took, each as if it had been the ordinary piece of work. */
export class RunHistory {
  readonly #context: Pick<ConsumerContext, 'engine' | 'queries' | 'now'>
  readonly #looks = new Map<JobType, Look>()

  constructor(context: Pick<ConsumerContext, 'engine' | 'queries' | 'now'>) {
    this.#context = context
  }

  async of(type: JobType | null, gpu: string | null): Promise<readonly number[]> {
    if (type === null) return []
    return (await this.#look(type)).get(gpu === null ? '' : gpuModelOf(gpu)) ?? []
  }

  #look(type: JobType): Promise<ByModel> {
    const now = this.#context.now()
    const known = this.#looks.get(type)
    if (known !== undefined && now - known.at < FRESH_MS) return known.runs
    const runs = this.#read(type)
    this.#looks.set(type, { at: now, runs })
    runs.catch(() => this.#looks.delete(type))
    return runs
  }

  async #read(type: JobType): Promise<ByModel> {
    const filter = { owner: null, states: ['succeeded'] as const, type, worker: null, name: null, labels: [] }
    const rows: JobRow[] = []
    let before: number | null = null
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page: Page = await this.#context.queries.page(filter, before, PER_PAGE)
      rows.push(...page.rows)
      if (page.next === null) break
      before = page.next
    }
    const models = await this.#context.engine.read(({ workers }) => {
      const byUuid = new Map<string, string>()
      for (const { facts } of workers.values())
        for (const { uuid, name } of facts.hardware.gpus) byUuid.set(uuid, gpuModelOf(name))
      return byUuid
    })
    return byModel(rows, models)
  }
}

/** A device that is not known any more has no model, and what a worker may have made up took no real time: neither tells anything. */
function byModel(rows: readonly JobRow[], models: ReadonlyMap<string, string>): ByModel {
  const runs = new Map<string, number[]>()
  for (const row of rows) {
    const [uuid]: string[] = row.gpus === null ? [] : JSON.parse(row.gpus)
    const model = uuid === undefined ? '' : models.get(uuid)
    const startedAt = row.runningAt ?? row.placedAt
    if (model === undefined || startedAt === null || row.attemptEndedAt === null || isDoubted(row)) continue
    const { factor } = scaleOf(kindOf(row.type), readSpec(row.spec).input)
    const seconds = (row.attemptEndedAt - startedAt) / 1000 / factor
    runs.set(model, [...(runs.get(model) ?? []), seconds])
  }
  return runs
}

function isDoubted({ result }: JobRow): boolean {
  const told: unknown = result === null ? null : JSON.parse(result)
  return typeof told === 'object' && told !== null && 'unverified' in told && told.unverified === true
}

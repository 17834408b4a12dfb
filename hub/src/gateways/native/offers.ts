import { type Fence, JobSpec, type Offer } from '@stoker/protocol'
import type { NewJob } from '../../engine/commands.ts'
import type { Batch } from '../../engine/core.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Queries } from '../../store/port.ts'

type KnownJob = Pick<NewJob, 'id' | 'spec' | 'specText'>

/** Offers of a batch's placements, by worker. Jobs submitted in the same batch are at hand; the specs of all others are read from the store. */
export async function offersOf(batch: Batch, queries: Queries): Promise<ReadonlyMap<string, readonly Offer[]>> {
  const placed = batch.changes.filter(change => change.c === 'placed')
  const known = batch.submissions
  const specs = new Specs()
  const missing = placed.filter(({ job }) => !known.has(job)).map(({ job }) => job)
  const stored = await specsOf(missing, queries, specs)
  const byWorker = new Map<string, Offer[]>()
  for (const { job, epoch, attempt, worker, gpus } of placed) {
    const found = known.get(job) ?? stored.get(job)
    if (found === undefined) throw new Error(`job ${job} was placed but the store does not know it`)
    const offers = byWorker.get(worker) ?? []
    offers.push({ fence: { job, epoch, attempt }, id: found.id, spec: specs.shared(found), gpus })
    byWorker.set(worker, offers)
  }
  return byWorker
}

/** Offers to repeat to a worker that came back without having taken them up. */
export async function repeatOffers(
  fences: readonly Fence[],
  engine: Pick<EngineLoop, 'read'>,
  queries: Queries,
): Promise<readonly Offer[]> {
  const jobs = fences.map(fence => fence.job)
  const stored = await specsOf(jobs, queries, new Specs())
  const gpus = await engine.read(state => new Map(jobs.map(job => [job, state.active.get(job)?.claim.gpus ?? []])))
  return fences.flatMap(fence => {
    const found = stored.get(fence.job)
    return found === undefined
      ? []
      : [{ fence, id: found.id, spec: found.spec, gpus: [...(gpus.get(fence.job) ?? [])] }]
  })
}

async function specsOf(jobs: readonly number[], queries: Queries, specs: Specs): Promise<Map<number, KnownJob>> {
  if (jobs.length === 0) return new Map()
  const rows = await queries.offers(jobs)
  return new Map(rows.map(({ seq, id, spec }) => [seq, { id, spec: specs.read(spec), specText: spec }]))
}

/** Jobs of one submission often have the same spec to the letter: it is read once, and offers that share it share its object. */
class Specs {
  readonly #byText = new Map<string, JobSpec>()

  read(text: string): JobSpec {
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const spec = JobSpec.parse(JSON.parse(text))
    this.#byText.set(text, spec)
    return spec
  }

  shared({ spec, specText }: KnownJob): JobSpec {
    const known = this.#byText.get(specText)
    if (known === undefined) this.#byText.set(specText, spec)
    return known ?? spec
  }
}

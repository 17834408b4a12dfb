import {
  CHECKPOINT_ATTEMPT,
  type ChangeOf,
  checkpointIn,
  type Fence,
  type JobSpec,
  MAX_CHECKPOINT_FILES,
  type Offer,
  readSpec,
} from '@stoker/protocol'
import { presentClaim } from '../../engine/claims.ts'
import type { NewJob } from '../../engine/commands.ts'
import type { Batch } from '../../engine/core.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Queries } from '../../store/port.ts'

/** By their text: jobs of one submission often have the same spec to the letter, and their offers share one object of it. */
type Specs = Map<string, JobSpec>

/** The session that takes a task, by the task's placement; undefined if that is over already. */
export type SessionOf = (task: Fence) => Fence | undefined

export type OffersByWorker = ReadonlyMap<string, readonly Offer[]>

type Placed = ChangeOf<'placed'>

/** What was read of jobs and their earlier attempts. */
interface Read {
  readonly specs: Specs
  readonly stored: ReadonlyMap<number, Pick<Offer, 'id' | 'spec'>>
  readonly resumes: ReadonlyMap<number, Pick<Offer, 'resume'>>
}

/** Offers of a batch's placements, by worker. Jobs submitted in the same batch are at hand, without waiting; the specs of all others are read from the store. */
export function offersOf(
  batch: Batch,
  queries: Queries,
  sessionOf: SessionOf,
): OffersByWorker | Promise<OffersByWorker> {
  const placed = batch.changes.filter(change => change.c === 'placed')
  const { submissions } = batch
  const isAtHand = placed.every(({ job }) => submissions.has(job))
  if (isAtHand) return makeOffers(placed, batch, { specs: new Map(), stored: new Map(), resumes: new Map() }, sessionOf)
  return readAll(placed, batch, queries).then(read => makeOffers(placed, batch, read, sessionOf))
}

async function readAll(placed: readonly Placed[], { submissions }: Batch, queries: Queries): Promise<Read> {
  const specs: Specs = new Map()
  const missing = placed.filter(({ job }) => !submissions.has(job)).map(({ job }) => job)
  const stored = await specsOf(missing, queries, specs)
  return { specs, stored, resumes: await resumesOf(placed, queries) }
}

function makeOffers(
  placed: readonly Placed[],
  { submissions }: Batch,
  { specs, stored, resumes }: Read,
  sessionOf: SessionOf,
): OffersByWorker {
  const byWorker = new Map<string, Offer[]>()
  for (const { job, epoch, attempt, worker, gpus, session: isTask } of placed) {
    const fence = { job, epoch, attempt }
    const session = isTask === undefined ? undefined : sessionOf(fence)
    if (isTask !== undefined && session === undefined) continue
    const fresh = submissions.get(job)
    const found = fresh === undefined ? stored.get(job) : { id: fresh.id, spec: sharedSpec(fresh, specs) }
    if (found === undefined) throw new Error(`job ${job} was placed but the store does not know it`)
    const offers = byWorker.get(worker) ?? []
    const offer = { fence, ...found, gpus, ...resumes.get(job) }
    offers.push(session === undefined ? offer : { ...offer, session })
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
  const stored = await specsOf(jobs, queries, new Map())
  const resumes = await resumesOf(fences, queries)
  const claims = await engine.read(state => fences.map(fence => presentClaim(state, fence)))
  return fences.flatMap((fence, index) => {
    const found = stored.get(fence.job)
    const claim = claims[index]
    // A task may have been lost with its session while both sides agreed on what there is.
    if (found === undefined || claim === undefined) return []
    const { gpus, session } = claim
    const more = session === null ? resumes.get(fence.job) : { session }
    return [{ fence, ...found, gpus: [...gpus], ...more }]
  })
}

/** What earlier attempts left to go on from; a first attempt has none, so most placements ask nothing. */
async function resumesOf(
  placed: readonly Pick<Fence, 'job' | 'attempt'>[],
  queries: Queries,
): Promise<ReadonlyMap<number, Pick<Offer, 'resume'>>> {
  const found = new Map<number, Pick<Offer, 'resume'>>()
  for (const { job, attempt } of placed) {
    if (attempt <= 1) continue
    const resume = checkpointIn(await queries.artifacts(job, CHECKPOINT_ATTEMPT, '', MAX_CHECKPOINT_FILES))
    if (resume !== null) found.set(job, { resume })
  }
  return found
}

async function specsOf(
  jobs: readonly number[],
  queries: Queries,
  specs: Specs,
): Promise<Map<number, Pick<Offer, 'id' | 'spec'>>> {
  if (jobs.length === 0) return new Map()
  const rows = await queries.offers(jobs)
  return new Map(rows.map(({ seq, id, spec }) => [seq, { id, spec: readOnce(spec, specs) }]))
}

function readOnce(text: string, specs: Specs): JobSpec {
  const spec = specs.get(text) ?? readSpec(text)
  specs.set(text, spec)
  return spec
}

function sharedSpec({ spec, specText }: NewJob, specs: Specs): JobSpec {
  const shared = specs.get(specText) ?? spec
  specs.set(specText, shared)
  return shared
}

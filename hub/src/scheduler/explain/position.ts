import type { Bucket, Now, State, WorkerState } from '../../engine/state.ts'
import { FairShare } from '../fair-share.ts'
import { couldRun, looksAtNames } from '../fit.ts'

/** Jobs of one bucket that come before the one asked about. */
export interface Ahead {
  readonly bucket: Bucket
  readonly jobs: number
}

export interface Position {
  /** In the order in which they start. */
  readonly ahead: readonly Ahead[]
  /** Those that come later and may still take room that is too small for the job. */
  readonly behind: readonly Ahead[]
  readonly total: number
  readonly isExact: boolean
}

/** Jobs counted one by one before the rest is reckoned from the numbers at both ends of a queue. */
const MOST_STEPS = 4000
/** Classes of workers that are asked whether both jobs could run there. */
const MOST_CLASSES = 8

/** The jobs that compete with one and come first. Owners of one priority take turns, so that of others about as many come first as of its own owner. */
export function positionOf(state: State, job: number, bucket: Bucket, now: Now): Position {
  const places = placesOf(state, bucket)
  const count = new OlderJobs(state)
  const own: Ahead[] = []
  const higher: Ahead[] = []
  const lower: Ahead[] = []
  const others = new Map<string, { bucket: Bucket; jobs: number }[]>()
  for (const id of state.queued.buckets()) {
    const other = state.buckets.get(id)
    if (other === undefined || other.shape.target !== null || !competes(other, bucket, places)) continue
    const jobs = state.queued.sizeOf(id)
    if (other.priority < bucket.priority) lower.push({ bucket: other, jobs })
    else if (other.priority > bucket.priority) higher.push({ bucket: other, jobs })
    else if (other.owner === bucket.owner) own.push({ bucket: other, jobs: count.before(id, job) })
    else {
      const theirs = others.get(other.owner)
      if (theirs === undefined) others.set(other.owner, [{ bucket: other, jobs }])
      else theirs.push({ bucket: other, jobs })
    }
  }
  const fair = new FairShare(state, now)
  const mine = own.reduce((sum, { jobs }) => sum + jobs, 0)
  const turns = [...others].flatMap(([owner, theirs]) =>
    firstOf(theirs, mine + (fair.of(owner) < fair.of(bucket.owner) ? 1 : 0)),
  )
  higher.sort((a, b) => b.bucket.priority - a.bucket.priority)
  const ahead = [...higher, ...turns, ...own].filter(({ jobs }) => jobs > 0)
  const total = ahead.reduce((sum, { jobs }) => sum + jobs, 0)
  const later = [...others.values()]
    .flat()
    .concat(own)
    .filter(one => one.bucket !== bucket)
  const taken = new Map(ahead.map(({ bucket: { id }, jobs }) => [id, jobs]))
  const behind = [...later, ...lower].map(({ bucket: other }) => ({
    bucket: other,
    jobs: state.queued.sizeOf(other.id) - (taken.get(other.id) ?? 0),
  }))
  return {
    ahead,
    behind: behind.filter(({ jobs }) => jobs > 0),
    total,
    isExact: count.isExact && others.size === 0 && places.isWhole,
  }
}

/** Counts up to a bound, over all queues together. */
class OlderJobs {
  readonly #state: State
  #steps = 0
  isExact = true

  constructor(state: State) {
    this.#state = state
  }

  before(bucket: number, job: number): number {
    const { queued } = this.#state
    const [oldest, newest] = [queued.oldest(bucket) ?? 0, queued.newest(bucket) ?? 0]
    const size = queued.sizeOf(bucket)
    if (job <= oldest) return 0
    if (job > newest) return size
    if (this.#steps + size > MOST_STEPS) return this.#reckon(size, (job - oldest) / Math.max(1, newest - oldest))
    let older = 0
    for (const seq of queued.walk(bucket)) {
      if (seq >= job) break
      older += 1
    }
    this.#steps += older
    return older
  }

  #reckon(size: number, part: number): number {
    this.isExact = false
    return Math.round((size - 1) * part)
  }
}

function firstOf(buckets: readonly Ahead[], most: number): Ahead[] {
  let left = most
  return buckets.map(({ bucket, jobs }) => {
    const taken = Math.min(jobs, left)
    left -= taken
    return { bucket, jobs: taken }
  })
}

interface Places {
  readonly workers: readonly WorkerState[]
  readonly isWhole: boolean
}

/** One worker of each class that could run the job. */
function placesOf(state: State, { shape }: Bucket): Places {
  const classes = new Map<string, WorkerState>()
  const seen = new Set<string>()
  for (const worker of state.workers.values()) {
    const look = looksAtNames(shape) ? worker.id : worker.classKey
    if (seen.has(look)) continue
    seen.add(look)
    if (couldRun(shape, worker)) classes.set(look, worker)
  }
  return { workers: [...classes.values()].slice(0, MOST_CLASSES), isWhole: classes.size <= MOST_CLASSES }
}

/** Where nothing could run the job, all of its priority stand before it. */
function competes(other: Bucket, bucket: Bucket, { workers }: Places): boolean {
  return other.id === bucket.id || workers.length === 0 || workers.some(worker => couldRun(other.shape, worker))
}

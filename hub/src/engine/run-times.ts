import type { ChangeOf, Outcome } from '@stoker/protocol'
import type { ActiveJob, Bucket, State } from './state.ts'

const MOST_KEYS = 10_000
const STEPS_PER_DOUBLING = 4
/** Up to 2^33 ms, about a hundred days; longer ones count as that long. */
const STEPS = 33 * STEPS_PER_DOUBLING + 1
/** From then on older runs count half as much each time this many were added. */
const FULL = 1000

/** How long runs of jobs alike took, on a scale of steps of a fifth. */
export class RunTimes {
  readonly #counts = new Uint16Array(STEPS)
  #total = 0
  #seen = 0

  /** Runs that were ever added. */
  get seen(): number {
    return this.#seen
  }

  add(ms: number): void {
    const step = stepOf(ms)
    this.#counts[step] = (this.#counts[step] ?? 0) + 1
    this.#total += 1
    this.#seen += 1
    if (this.#total >= FULL) this.#halve()
  }

  /** Draws a run time from those longer than `age`, by a chance between 0 and 1; null if none was longer. */
  longerThan(age: number): ((chance: number) => number) | null {
    const steps: number[] = []
    const before: number[] = []
    let longer = 0
    for (let step = age <= 0 ? 0 : stepOf(age); step < STEPS; step += 1) {
      const count = this.#counts[step] ?? 0
      if (count === 0) continue
      steps.push(step)
      before.push(longer)
      longer += count
    }
    if (longer === 0) return null
    return chance => {
      const drawn = chance * longer
      let last = steps.length - 1
      while (last > 0 && (before[last] ?? 0) > drawn) last -= 1
      const [step = 0, until = longer] = [steps[last], before[last + 1]]
      const below = before[last] ?? 0
      return Math.max(age, msOf(step + (drawn - below) / (until - below)))
    }
  }

  #halve(): void {
    this.#total = 0
    for (let step = 0; step < STEPS; step += 1) {
      const half = Math.ceil((this.#counts[step] ?? 0) / 2)
      this.#counts[step] = half
      this.#total += half
    }
  }
}

/** Run times by owner, shape and terms: what is known in memory of a job that runs or waits. The least used are forgotten. */
export class RunTimeBook {
  readonly #byKey = new Map<string, RunTimes>()
  readonly #keys = new WeakMap<object, string>()
  #newest = ''

  get size(): number {
    return this.#byKey.size
  }

  add(bucket: Alike, ms: number): void {
    const key = this.#keyOf(bucket)
    const known = this.#byKey.get(key) ?? new RunTimes()
    known.add(ms)
    if (key === this.#newest) return
    this.#newest = key
    this.#byKey.delete(key)
    this.#byKey.set(key, known)
    if (this.#byKey.size <= MOST_KEYS) return
    for (const oldest of this.#byKey.keys()) {
      this.#byKey.delete(oldest)
      break
    }
  }

  of(bucket: Alike): RunTimes | null {
    return this.#byKey.get(this.#keyOf(bucket)) ?? null
  }

  /** When memory is rebuilt in a running hub, what was learnt stays. */
  takeOver(other: RunTimeBook): void {
    for (const [key, times] of other.#byKey) this.#byKey.set(key, times)
    this.#newest = ''
  }

  #keyOf(bucket: Alike): string {
    const known = this.#keys.get(bucket)
    if (known !== undefined) return known
    const key = JSON.stringify([bucket.owner, Object.values(bucket.shape), Object.values(bucket.terms)])
    this.#keys.set(bucket, key)
    return key
  }
}

/** Ends that tell how long such a job has its worker; others come from outside. */
const TELLING: readonly Outcome[] = ['completed', 'failed', 'timed_out']

/** From its placement: that is how long it had what it takes of the worker. */
export function learnRun(
  state: State,
  { bucket, placedAt }: ActiveJob,
  { outcome, at }: ChangeOf<'attemptEnded'>,
): void {
  const known = state.buckets.get(bucket)
  if (known !== undefined && TELLING.includes(outcome)) state.runTimes.add(known, at - placedAt)
}

type Alike = Pick<Bucket, 'owner' | 'shape' | 'terms'>

function stepOf(ms: number): number {
  return Math.min(STEPS - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, ms)) * STEPS_PER_DOUBLING)))
}

function msOf(step: number): number {
  return 2 ** (step / STEPS_PER_DOUBLING)
}

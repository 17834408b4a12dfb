import { randomUUID } from 'node:crypto'
import type { JobSpecInput, Problem } from '@stoker/protocol'
import { HubRefused } from './errors.ts'
import type { PostJobs, SubmittedJob } from './post-jobs.ts'

interface Waiting {
  readonly spec: string
  readonly resolve: (job: SubmittedJob) => void
  readonly reject: (error: unknown) => void
}

/** The hub takes 10,000 jobs a request; the bytes keep one request below what it reads in one piece. */
const MAX_JOBS = 10_000
const MAX_CHARACTERS = 8_000_000

/**
 * Gathers the submits of one turn of the event loop into one request. Callers notice nothing of each other:
 * each gets its own id, or the refusal of its own spec while the others are sent again without it.
 */
export class SubmitBatches {
  readonly #post: PostJobs
  #gathered = new Map<boolean, Waiting[]>()

  constructor(post: PostJobs) {
    this.#post = post
  }

  submit(spec: JobSpecInput, failFast: boolean): Promise<SubmittedJob> {
    return new Promise((resolve, reject) => {
      const waiting = { spec: JSON.stringify(spec), resolve, reject }
      if (this.#gathered.size === 0) setImmediate(() => this.#flush())
      const list = this.#gathered.get(failFast)
      if (list === undefined) this.#gathered.set(failFast, [waiting])
      else list.push(waiting)
    })
  }

  #flush(): void {
    const gathered = this.#gathered
    this.#gathered = new Map()
    for (const [failFast, list] of gathered) for (const batch of cut(list)) void this.#send(batch, failFast)
  }

  async #send(batch: readonly Waiting[], failFast: boolean): Promise<void> {
    try {
      const jobs = await this.#post(
        batch.map(one => one.spec),
        { failFast, idempotencyKey: randomUUID() },
      )
      batch.forEach((one, index) => {
        const job = jobs[index]
        if (job !== undefined) one.resolve(job)
      })
    } catch (error) {
      await this.#refused(batch, failFast, error)
    }
  }

  async #refused(batch: readonly Waiting[], failFast: boolean, error: unknown): Promise<void> {
    const problem = error instanceof HubRefused && isAboutSpecs(error.problem) ? error.problem : null
    if (problem === null || batch.length === 1) {
      for (const one of batch) one.reject(error)
      return
    }
    const guilty = issuesByJob(problem)
    const rest = batch.filter((_, index) => !guilty.has(index))
    if (rest.length === batch.length) {
      const half = Math.ceil(batch.length / 2)
      await Promise.all([this.#send(batch.slice(0, half), failFast), this.#send(batch.slice(half), failFast)])
      return
    }
    for (const [index, errors] of guilty) batch[index]?.reject(new HubRefused(ownProblem(problem, errors)))
    if (rest.length > 0) await this.#send(rest, failFast)
  }
}

/** Refusals that one spec can cause for all: not valid, too large, cannot be scheduled. */
const ABOUT_SPECS: ReadonlySet<number> = new Set([400, 413, 422])

function isAboutSpecs({ status, code }: Problem): boolean {
  return ABOUT_SPECS.has(status) || code === 'preset.not_found'
}

type Issues = NonNullable<Problem['errors']>

function issuesByJob(problem: Problem): Map<number, Issues> {
  const byJob = new Map<number, Issues>()
  for (const { path, message } of problem.errors ?? []) {
    const match = /^jobs\[(\d+)\](?:\.(.*))?$/s.exec(path)
    if (match === null) continue
    const index = Number(match[1])
    const own = byJob.get(index) ?? []
    own.push({ path: match[2] ?? '(whole)', message })
    byJob.set(index, own)
  }
  return byJob
}

function ownProblem(problem: Problem, errors: Issues): Problem {
  return { ...problem, detail: errors.map(({ path, message }) => `${path}: ${message}`).join('; '), errors }
}

function cut(list: readonly Waiting[]): Waiting[][] {
  const batches: Waiting[][] = []
  let batch: Waiting[] = []
  let characters = 0
  for (const one of list) {
    if (batch.length > 0 && (batch.length === MAX_JOBS || characters + one.spec.length > MAX_CHARACTERS)) {
      batches.push(batch)
      batch = []
      characters = 0
    }
    batch.push(one)
    characters += one.spec.length
  }
  batches.push(batch)
  return batches
}

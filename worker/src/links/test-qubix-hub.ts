import type { HubMood, StandInHub, ToldEnd } from './link-contract.ts'
import { type HttpAnswer, type HttpCall, HttpHub } from './test-http-hub.ts'

interface Entry {
  readonly id: string
  readonly job: Readonly<Record<string, unknown>>
  isListed: boolean
  isCanceled: boolean
  completions: Readonly<Record<string, unknown>>[]
  progress: number[]
  lines: string[]
}

/** A QUBIX backend as the documents describe it: five routes, no memory of what it handed out but the list itself. */
export class QubixHub implements StandInHub {
  readonly http = new HttpHub(call => this.#answer(call))
  readonly providers: Readonly<Record<string, unknown>>[] = []
  readonly beats: Readonly<Record<string, unknown>>[] = []
  /** Answers to give instead, by path; for backends of other kinds. */
  readonly instead = new Map<RegExp, HttpAnswer>()
  /** Some wrap the list of a poll, some hand jobs out with heartbeats only. */
  intake: 'poll' | 'wrapped' | 'heartbeat' = 'poll'
  readonly #jobs = new Map<string, Entry>()

  get url(): string {
    return this.http.url
  }

  open(): Promise<void> {
    return this.http.open()
  }

  close(): Promise<void> {
    return this.http.close()
  }

  mood(mood: HubMood): Promise<void> {
    return this.http.mood(mood)
  }

  offer(id: string, script: string): void {
    this.offerJob(id, { jobType: 'custom_script', modelType: 'custom_script', inputData: { script } })
  }

  offerJob(id: string, job: Readonly<Record<string, unknown>>): void {
    const whole = { id, computeNeeded: 1, inputData: {}, status: 'ASSIGNED', ...job }
    this.#jobs.set(id, {
      ...{ id, job: whole, isListed: true, isCanceled: false, completions: [], progress: [], lines: [] },
    })
  }

  offerAgain(id: string): void {
    this.#entry(id).isListed = true
  }

  cancel(id: string): boolean {
    this.#entry(id).isCanceled = true
    return true
  }

  completions(id: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#entry(id).completions
  }

  ends(id: string): readonly ToldEnd[] {
    const bodies = this.#entry(id).completions.map(body => JSON.stringify(body))
    return [...new Set(bodies)].map(body => endOf(JSON.parse(body)))
  }

  endsHeard(id: string): number {
    return this.#entry(id).completions.length
  }

  output(id: string): string {
    return this.#entry(id).lines.join('\n')
  }

  progress(id: string): readonly number[] {
    return this.#entry(id).progress
  }

  get hasLeft(): boolean {
    return this.beats.at(-1)?.status === 'offline'
  }

  #entry(id: string): Entry {
    const entry = this.#jobs.get(id)
    if (entry === undefined) throw new Error(`no job ${id}`)
    return entry
  }

  #answer(call: HttpCall): HttpAnswer {
    const { method, path, json } = call
    for (const [pattern, answer] of this.instead) if (pattern.test(path)) return answer
    const body = json as Readonly<Record<string, unknown>>
    if (method === 'POST' && /^\/api\/providers\/(quick-)?register$/.test(path)) {
      this.providers.push(body)
      return { status: 200, json: { success: true, provider: { id: 'p1' } } }
    }
    if (method === 'POST' && /^\/api\/providers\/[0-9a-f]{16}\/heartbeat$/.test(path)) {
      this.beats.push(body)
      return { status: 200, json: { success: true, pendingJobs: this.intake === 'heartbeat' ? this.#listed() : [] } }
    }
    if (method === 'GET' && /^\/api\/jobs\/pending\/[0-9a-f]{16}$/.test(path)) return this.#poll()
    const [, id = '', what] = /^\/api\/jobs\/([^/]+)\/(progress|complete)$/.exec(path) ?? []
    const entry = this.#jobs.get(decodeURIComponent(id))
    if (entry === undefined) return { status: 404, json: { success: false, error: `no route or job for ${path}` } }
    return what === 'progress' ? this.#progressed(entry, body) : completed(entry, body)
  }

  #poll(): HttpAnswer {
    if (this.intake === 'heartbeat') return { status: 404, json: { success: false, error: 'no such route' } }
    return { status: 200, json: this.intake === 'wrapped' ? { success: true, jobs: this.#listed() } : this.#listed() }
  }

  #listed(): readonly unknown[] {
    return [...this.#jobs.values()].filter(entry => entry.isListed).map(entry => entry.job)
  }

  #progressed(entry: Entry, body: Readonly<Record<string, unknown>>): HttpAnswer {
    entry.progress.push(Number(body.progress))
    const lines = (body.logLines ?? []) as readonly { readonly message: string }[]
    entry.lines.push(...lines.map(({ message }) => message))
    if (entry.completions.length === 0) entry.isListed = false
    return { status: 200, json: { success: true, ...(entry.isCanceled ? { cancel: true } : {}) } }
  }
}

function completed(entry: Entry, body: Readonly<Record<string, unknown>>): HttpAnswer {
  const isRepeat = entry.completions.length > 0
  entry.completions.push(body)
  entry.isListed = false
  return { status: 200, json: { success: true, ...(isRepeat ? { duplicate: true } : {}) } }
}

interface Completion {
  readonly status: string
  readonly error: string | null
  readonly result: { readonly exitCode: number | null }
}

function endOf({ status, error, result: { exitCode } }: Completion): ToldEnd {
  if (status === 'completed') return { outcome: 'completed', exitCode, error }
  if (error === 'interrupted') return { outcome: 'interrupted', exitCode, error }
  return { outcome: error?.includes('cancel') ? 'canceled' : 'failed', exitCode, error }
}

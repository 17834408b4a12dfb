import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeZip } from '../../../files/src/archives/test-archives.ts'
import type { HubMood, StandInHub, ToldEnd } from './link-contract.ts'
import { type HttpAnswer, type HttpCall, HttpHub } from './test-http-hub.ts'

interface Entry {
  readonly id: string
  readonly job: Readonly<Record<string, unknown>>
  bytes: Buffer | null
  isListed: boolean
  isCanceled: boolean
  reports: Readonly<Record<string, unknown>>[]
  lines: string[]
  results: Buffer | null
  claimedBy: string | null
}

/** A TrainForge scheduler as the documents describe it: by poll, where handing out is the claim, or with claims. */
export class TrainforgeHub implements StandInHub {
  readonly http = new HttpHub(call => this.#answer(call))
  readonly registered: Readonly<Record<string, unknown>>[] = []
  readonly beats: Readonly<Record<string, unknown>>[] = []
  readonly instead = new Map<RegExp, HttpAnswer>()
  readonly manner: 'workers' | 'claims'
  /** Says in its answer to register that it is one of ours. */
  isOurs = false
  readonly #jobs = new Map<string, Entry>()
  #hasLeft = false

  constructor(manner: 'workers' | 'claims') {
    this.manner = manner
  }

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
    this.offerProject(id, { 'train.py': script })
  }

  offerProject(
    id: string,
    files: Readonly<Record<string, string>> | null,
    job: Readonly<Record<string, unknown>> = {},
  ): void {
    const entry: Entry = {
      ...{ id, bytes: null, isListed: false, isCanceled: false, reports: [], lines: [] },
      ...{ results: null, claimedBy: null },
      job: { job_id: id, resources: { gpu: 0, cpu: 1 }, training: { script: 'train.py' }, ...job },
    }
    this.#jobs.set(id, entry)
    if (files === null) entry.isListed = true
    else
      void zipOf(files).then(bytes => {
        entry.bytes = bytes
        entry.isListed = true
      })
  }

  offerAgain(id: string): void {
    Object.assign(this.#entry(id), { isListed: true, claimedBy: null })
  }

  cancel(id: string): boolean {
    this.#entry(id).isCanceled = true
    return true
  }

  reports(id: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#entry(id).reports
  }

  results(id: string): Buffer | null {
    return this.#entry(id).results
  }

  ends(id: string): readonly ToldEnd[] {
    const last = this.#entry(id).reports.filter(({ status }) => status !== 'running')
    const bodies = new Set(last.map(body => JSON.stringify(body)))
    return [...bodies].map(body => endOf(JSON.parse(body)))
  }

  endsHeard(id: string): number {
    return this.#entry(id).reports.filter(({ status }) => status !== 'running').length
  }

  output(id: string): string {
    return this.#entry(id).lines.join('\n')
  }

  progress(): readonly number[] {
    return []
  }

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  #entry(id: string): Entry {
    const entry = this.#jobs.get(id)
    if (entry === undefined) throw new Error(`no job ${id}`)
    return entry
  }

  #answer(call: HttpCall): HttpAnswer {
    const { method, path } = call
    for (const [pattern, answer] of this.instead) if (pattern.test(path)) return answer
    if (path.startsWith('/api/workers/')) return this.#worker(method, path.slice('/api/workers/'.length), call)
    if (this.manner === 'claims' && path === '/api/jobs/pending') return { status: 200, json: this.#listed() }
    const [, id = '', rest = ''] = /^\/api\/jobs\/([^/]+)(?:\/(.+))?$/.exec(path) ?? []
    const entry = this.#jobs.get(decodeURIComponent(id))
    return entry === undefined ? NOT_FOUND : this.#job(entry, `${method} ${rest}`, call)
  }

  #worker(method: string, route: string, { json }: HttpCall): HttpAnswer {
    const body = json as Readonly<Record<string, unknown>>
    if (route === 'register') {
      this.registered.push(body)
      this.#hasLeft = false
      return { status: 200, json: { success: true, ...(this.isOurs ? { server: 'stoker' } : {}) } }
    }
    const isBeat =
      this.manner === 'workers' ? route === 'heartbeat' : decodeURIComponent(route) === `${body?.worker_id}/heartbeat`
    if (isBeat) this.beats.push(body)
    if (route === 'unregister') this.#hasLeft = true
    if (isBeat || route === 'unregister') return { status: 200, json: { success: true } }
    if (this.manner === 'claims') return NOT_FOUND
    if (method === 'GET' && route.startsWith('jobs?worker_id=')) return { status: 200, json: { jobs: this.#handOut() } }
    if (route !== 'job-status') return NOT_FOUND
    this.#jobs.get(String(body.job_id))?.reports.push(body)
    return { status: 200, json: { success: true } }
  }

  #job(entry: Entry, route: string, { body, json }: HttpCall): HttpAnswer {
    const said = json as Readonly<Record<string, unknown>>
    switch (route) {
      case 'GET ':
        return {
          status: 200,
          json: { success: true, job_id: entry.id, status: entry.isCanceled ? 'cancelled' : 'running' },
        }
      case 'GET files':
        return entry.bytes === null ? NOT_FOUND : { status: 200, body: entry.bytes }
      case 'POST claim':
        if (entry.claimedBy !== null && entry.claimedBy !== said.worker_id)
          return { status: 409, json: { success: false } }
        Object.assign(entry, { claimedBy: said.worker_id, isListed: false })
        return { status: 200, json: { success: true, job_id: entry.id, worker_id: said.worker_id } }
      case 'POST logs/batch':
        entry.lines.push(...(said.logs as readonly { readonly message: string }[]).map(({ message }) => message))
        return { status: 200, json: { success: true } }
      case 'POST results':
        entry.results = body
        return { status: 200, json: { success: true } }
      case 'PUT status':
        entry.reports.push(said)
        return { status: 200, json: { success: true } }
      default:
        return NOT_FOUND
    }
  }

  #listed(): readonly unknown[] {
    return [...this.#jobs.values()].filter(entry => entry.isListed).map(({ job }) => ({ ...job, status: 'pending' }))
  }

  /** Handing out is the claim. */
  #handOut(): readonly unknown[] {
    const jobs = [...this.#jobs.values()].filter(entry => entry.isListed)
    for (const entry of jobs) entry.isListed = false
    return jobs.map(({ job }) => job)
  }
}

const NOT_FOUND: HttpAnswer = { status: 404, json: { error: 'Endpoint not found' } }

async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-zip-'))
  const entries = Object.entries(files).map(([name, body]) => ({ name, body }))
  const bytes = await readFile(await writeZip(join(folder, 'project.zip'), entries))
  await rm(folder, { recursive: true })
  return bytes
}

interface LastReport {
  readonly status: string
  readonly exit_codes?: readonly (number | null)[]
  readonly error_message?: string
  readonly reason?: string
}

function endOf({ status, exit_codes: codes = [], error_message: message, reason }: LastReport): ToldEnd {
  const error = message ?? reason ?? null
  const exitCode = codes[0] ?? null
  if (status === 'cancelled')
    return { outcome: error?.includes('shut down') ? 'interrupted' : 'canceled', exitCode, error }
  return { outcome: status === 'completed' ? 'completed' : 'failed', exitCode, error }
}

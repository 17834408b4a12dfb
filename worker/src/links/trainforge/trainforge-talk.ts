import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@stoker/files'
import { type Backoff, retrying } from '@stoker/net'
import type { Abilities } from '@stoker/protocol'
import { chooseIsolation } from '../../run/isolation.ts'
import { HubAway, type HubCalls, isFine, isTemporary } from '../foreign/hub-calls.ts'
import { nextLines } from '../foreign/log-tail.ts'
import type { Place } from '../foreign/places.ts'
import { Pulse } from '../foreign/pulse.ts'
import { type Beginning, CannotStart, type HeldJob, type Talk } from '../foreign/talk.ts'
import type { ProjectFiles } from './project-files.ts'
import { uploadResults } from './results-upload.ts'
import { specOf, type TrainforgeJob } from './trainforge-job.ts'
import { lastWord, type Manner, runningWord, type Word } from './trainforge-words.ts'

const CALL_MS = 10_000
const MAX_LINES = 500
const LOOK_FOR_PLACE_MS = 250
/** Lines and results go before the end; a hub that takes only ends must not keep us from telling it. */
const SIDE_TRIES = 3

export interface TrainforgeTalkPorts {
  readonly calls: HubCalls
  readonly workerId: string
  readonly projects: ProjectFiles
  readonly times: TalkTimes
  readonly abilities: () => Abilities
  /** A place for what it needs, beside what has one. */
  readonly findPlace: (need: HeldJob['record']['need']) => Place
  readonly hearsDeclines: () => boolean
  readonly isInterrupted: () => boolean
  readonly now: () => number
  readonly random: () => number
  readonly log: Log
}

export interface TalkTimes {
  readonly logsMs: number
  /** How often the hub is asked whether the job is still wanted. */
  readonly checkMs: number
  /** How long a job waits for a place before it counts as failed. */
  readonly holdMs: number
  readonly backoff: Backoff
}

/** The conversation about one job: files, running, lines, results, the end. */
export class TrainforgeTalk implements Talk {
  readonly #job: HeldJob
  readonly #ports: TrainforgeTalkPorts
  readonly #logs: Pulse
  readonly #check: Pulse
  readonly #manner: Manner
  #takesLines = true
  #answersChecks = true

  constructor(job: HeldJob, ports: TrainforgeTalkPorts) {
    this.#job = job
    this.#ports = ports
    const { logsMs, checkMs } = ports.times
    const failed = (error: unknown) => ports.log('debug', `job ${job.record.id}: no answer: ${String(error)}`)
    this.#logs = new Pulse({ everyMs: logsMs, leastMs: logsMs, beat: () => this.#tellLines(false), failed })
    this.#check = new Pulse({ everyMs: checkMs, leastMs: checkMs, beat: () => this.#look(), failed })
    this.#manner = (job.record.job as { readonly manner?: Manner }).manner ?? 'workers'
    if (job.record.startedAt !== null && job.record.end === null) this.#begun()
  }

  async begin(signal: AbortSignal): Promise<Beginning> {
    const { record } = this.#job
    const { projects, abilities } = this.#ports
    const job = record.job as unknown as TrainforgeJob
    await this.#findPlace(signal)
    if (this.#manner === 'claims' && !(await this.#claim(signal))) return 'refused'
    const project = await projects.fetch(record.number, record.id, signal)
    const spec = specOf(job, record.need, project, abilities())
    if (typeof spec === 'string') throw new CannotStart(spec)
    const isolation = chooseIsolation(spec, abilities())
    if (typeof isolation === 'string') throw new CannotStart(isolation)
    await this.#sayRunning().catch(() => {})
    this.#begun()
    return spec
  }

  started(): void {
    this.#logs.hurry()
    this.#check.hurry()
  }

  progress(): void {}

  output(): void {}

  async finish(): Promise<void> {
    await Promise.all([this.#logs.stop(), this.#check.stop()])
    let tries = 0
    const once = async () => {
      tries += 1
      if (tries <= SIDE_TRIES) await this.#sayRest()
      this.#decide()
      await this.#say(JSON.parse(this.#job.record.said ?? '{}') as Word)
    }
    const { times, random } = this.#ports
    await retrying(once, { ...times.backoff, random, signal: this.#job.signal, isTemporary: isAway })
    await this.#ports.projects.remove(this.#job.record.number)
  }

  async close(): Promise<void> {
    await Promise.all([this.#logs.stop(), this.#check.stop()])
  }

  #begun(): void {
    this.#logs.start()
    this.#check.start()
  }

  /** A hub of ours gives the job to another worker; others would lose it, so it waits here for a while. */
  async #findPlace(signal: AbortSignal): Promise<void> {
    const { record } = this.#job
    const { findPlace, hearsDeclines, times, now } = this.#ports
    if (record.isPlaced) return
    for (const until = now() + times.holdMs; ; ) {
      const place = findPlace(record.need)
      if ('uuids' in place) {
        record.uuids = [...place.uuids]
        record.isPlaced = true
        return this.#job.save()
      }
      if (place.forever || hearsDeclines() || now() >= until) throw new CannotStart(place.why)
      await sleep(LOOK_FOR_PLACE_MS, undefined, { signal })
    }
  }

  /** Several may want it: who is told 200 has it. */
  async #claim(signal: AbortSignal): Promise<boolean> {
    const { calls, workerId, times, random } = this.#ports
    const path = `/api/jobs/${encodeURIComponent(this.#job.record.id)}/claim`
    const json = JSON.stringify({ worker_id: workerId })
    const once = async () => {
      const answer = await calls.send({ method: 'POST', path, json, timeoutMs: CALL_MS, signal })
      if (isTemporary(answer.status)) throw new HubAway(`the claim was answered with ${answer.status}`)
      return isFine(answer.status) && (answer.json as { readonly success?: unknown } | null)?.success !== false
    }
    return retrying(once, { ...times.backoff, random, signal, isTemporary: isAway })
  }

  async #sayRunning(): Promise<void> {
    const { record } = this.#job
    if (record.note.isRunningTold === true) return
    const { workerId, now } = this.#ports
    await this.#say(runningWord({ workerId, manner: this.#manner }, record.id, now()))
    record.note.isRunningTold = true
    this.#job.save()
  }

  /** What belongs before the end. */
  async #sayRest(): Promise<void> {
    const { record, folder, signal } = this.#job
    const startedAt = record.end?.startedAt
    if (startedAt == null) return
    await this.#sayRunning()
    await this.#tellLines(true)
    if (record.note.results !== undefined) return
    const archive = this.#ports.projects.pathFor(record.number, 'results.zip')
    record.note.results = await uploadResults(this.#ports.calls, { id: record.id, folder, startedAt, archive, signal })
    this.#job.save()
  }

  /** The last word is chosen once and kept. */
  #decide(): void {
    const { record } = this.#job
    if (record.said !== null || record.end === null) return
    const { workerId, now, isInterrupted, hearsDeclines } = this.#ports
    const note = typeof record.note.results === 'string' ? record.note.results : null
    const facts = { at: now(), isInterrupted: isInterrupted(), hearsDeclines: hearsDeclines(), note }
    record.said = JSON.stringify(lastWord({ workerId, manner: this.#manner }, record, record.end, facts))
    this.#job.save({ durable: true })
  }

  async #say(word: Word): Promise<void> {
    const { calls, log } = this.#ports
    const answer = await calls.send({ ...word, timeoutMs: CALL_MS, signal: this.#job.signal })
    if (isTemporary(answer.status)) throw new HubAway(`a report was answered with ${answer.status}`)
    if (!isFine(answer.status))
      log('warn', `job ${this.#job.record.id}: the hub refused a report with ${answer.status}: ${answer.text}`)
  }

  async #tellLines(hasEnded: boolean): Promise<void> {
    const { record, folder } = this.#job
    if (!hasEnded) await this.#sayRunning()
    while (this.#takesLines) {
      const part = await nextLines(folder, record.logged, record.sizes, { max: MAX_LINES, hasEnded })
      if (part.lines.length > 0) await this.#postLines(part.lines.map(({ text }) => text))
      if (!part.hasMoved || !this.#takesLines) return
      record.logged = { ...part.upTo }
      this.#job.save()
      if (!part.hasMore) return
    }
  }

  async #postLines(lines: readonly string[]): Promise<void> {
    const { calls, workerId, now } = this.#ports
    const timestamp = now() / 1000
    const path = `/api/jobs/${encodeURIComponent(this.#job.record.id)}/logs/batch`
    const logs = lines.map(message => ({ message, timestamp }))
    const json = JSON.stringify({ worker_id: workerId, logs })
    const { status } = await calls.send({ method: 'POST', path, json, timeoutMs: CALL_MS, signal: this.#job.signal })
    if (isTemporary(status)) throw new HubAway(`lines were answered with ${status}`)
    this.#takesLines = isFine(status)
  }

  /** This dialect tells nobody of a cancel; a hub that can be asked is asked. */
  async #look(): Promise<void> {
    if (!this.#answersChecks) return
    const { calls } = this.#ports
    const path = `/api/jobs/${encodeURIComponent(this.#job.record.id)}`
    const { status, json } = await calls.send({ method: 'GET', path, timeoutMs: CALL_MS, signal: this.#job.signal })
    if (status === 404 || status === 405) this.#answersChecks = false
    const state = isFine(status) ? stateIn(json) : null
    if (state === 'cancelled' || state === 'canceled') this.#job.stop('canceled at the hub')
  }
}

function stateIn(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return null
  const { status, job } = json as { readonly status?: unknown; readonly job?: unknown }
  return typeof job === 'object' && job !== null ? (job as { readonly status?: unknown }).status : status
}

function isAway(error: unknown): boolean {
  return error instanceof HubAway
}

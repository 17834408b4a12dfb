import type { Log } from '@stoker/files'
import type { Abilities } from '@stoker/protocol'
import type { Workspaces } from '../../run/workspace.ts'
import { type Desk, type Dialect, ForeignLink } from '../foreign/foreign-link.ts'
import { type Answer, HubAway, type HubCalls, isFine } from '../foreign/hub-calls.ts'
import type { JobJournal } from '../foreign/job-journal.ts'
import { findPlace, type Machine } from '../foreign/places.ts'
import { NoWayIn } from '../foreign/presence.ts'
import type { HeldJob } from '../foreign/talk.ts'
import type { Link, LinkEvents } from '../link.ts'
import type { Sources } from '../sources.ts'
import type { ProjectFiles } from './project-files.ts'
import { jobsIn, needOf, type TrainforgeJob } from './trainforge-job.ts'
import { heartbeatBody, type Load, type Node, registerBody } from './trainforge-machine.ts'
import { type TalkTimes, TrainforgeTalk } from './trainforge-talk.ts'
import type { Manner, Word } from './trainforge-words.ts'

const CALL_MS = 10_000
const UNREGISTER_MS = 5_000
/** The hub has read the request and says no: asking again says nothing new. */
const FINAL: readonly number[] = [400, 401, 403]
/** What the machine itself must have left before another job is asked for. */
const MEMORY_FLOOR_BYTES = 2 ** 30

export interface TrainforgeTimes extends TalkTimes {
  readonly heartbeatMs: number
  readonly pollMs: number
}

/** As the documents have it. */
export const TRAINFORGE_TIMES: TrainforgeTimes = {
  ...{ heartbeatMs: 30_000, pollMs: 5_000, logsMs: 3_000, checkMs: 10_000, holdMs: 60_000 },
  backoff: { baseMs: 1_000, maxMs: 60_000 },
}

export interface TrainforgePorts extends LinkEvents {
  readonly hub: string
  readonly calls: HubCalls
  readonly node: Node
  readonly times: TrainforgeTimes
  readonly journal: JobJournal
  readonly projects: ProjectFiles
  readonly workspaces: Workspaces
  readonly sources: Sources
  readonly loadAverage: () => readonly number[]
  readonly abilities: () => Abilities
  readonly now: () => number
  readonly random: () => number
  readonly log: Log
}

/** The link, and what its node would tell of itself at any time. */
export function trainforgeLink(ports: TrainforgePorts): { readonly link: Link; readonly load: () => Load } {
  let load = (): Load => {
    throw new Error('the link makes its dialect before anyone can ask')
  }
  const samples = ports.sources.gpus
  const hangUp = () => ports.calls.close()
  const link = new ForeignLink({ ...ports, ...ports.times, samples, hangUp }, desk => {
    const dialect = new TrainforgeDialect(ports, desk)
    load = () => dialect.load
    return dialect
  })
  return { link, load: () => load() }
}

/** What a worker says to a TrainForge scheduler, beyond its single jobs, in whichever of the two manners it hears. */
class TrainforgeDialect implements Dialect {
  readonly #ports: TrainforgePorts
  readonly #desk: Desk
  readonly #machine: Machine
  #isOurs = false
  #manner: Manner = 'workers'
  #beatsById = false

  constructor(ports: TrainforgePorts, desk: Desk) {
    this.#ports = ports
    this.#desk = desk
    const { cores, memoryBytes, gpus } = ports.node.hardware
    this.#machine = { maxJobs: ports.node.maxJobs, cpus: cores, memoryBytes, gpus }
  }

  get load(): Load {
    const { sources, loadAverage, now } = this.#ports
    const { taken, ids } = this.#desk.jobs
    return {
      ...{ host: sources.host(), loadAverage: loadAverage(), samples: sources.gpus(), devices: sources.devices() },
      ...{ taken, activeJobs: ids.length, at: now() },
    }
  }

  async register(signal: AbortSignal): Promise<void> {
    const answer = await this.#post('/api/workers/register', registerBody(this.#ports.node), signal)
    if (FINAL.includes(answer.status))
      throw new NoWayIn(`the scheduler refused this worker with ${answer.status}: ${answer.text}`)
    if (!isFine(answer.status)) throw new HubAway(`it answered ${answer.status}: ${answer.text}`)
    this.#isOurs = (answer.json as { readonly server?: unknown } | null)?.server === 'stoker'
  }

  /** Some hubs know only the beat of one worker by its id: the other way is tried when one is not there. */
  async beat(signal: AbortSignal): Promise<Answer> {
    const first = await this.#beatBy(this.#beatsById, signal)
    if (first.status !== 404) return first
    const second = await this.#beatBy(!this.#beatsById, signal)
    if (second.status !== 404) this.#beatsById = !this.#beatsById
    return second
  }

  get hasRoom(): boolean {
    const { ids, taken } = this.#desk.jobs
    const { memoryTotalBytes, memoryUsedBytes } = this.#ports.sources.host()
    const floor = Math.min(MEMORY_FLOOR_BYTES, memoryTotalBytes / 8)
    const cpus = taken.reduce((sum, one) => sum + one.cpus, 0)
    const isFree = cpus < this.#machine.cpus && memoryTotalBytes - memoryUsedBytes >= floor
    return isFree && ids.length < this.#machine.maxJobs
  }

  async ask(signal: AbortSignal): Promise<void> {
    const { calls, node } = this.#ports
    const query = new URLSearchParams({ worker_id: node.workerId })
    const path = this.#manner === 'workers' ? `/api/workers/jobs?${query}` : '/api/jobs/pending'
    const { status, json } = await calls.send({ method: 'GET', path, timeoutMs: CALL_MS, signal })
    if (status === 404 || (isFine(status) && isOfOther(this.#manner, json))) this.#switchManner(status)
    else if (isFine(status)) this.#offered(Array.isArray(json) ? json : (json as { jobs?: unknown } | null)?.jobs)
  }

  talkAbout(job: HeldJob): TrainforgeTalk {
    const { calls, node, projects, times, abilities, sources, now, random, log } = this.#ports
    return new TrainforgeTalk(job, {
      ...{ calls, workerId: node.workerId, projects, times, abilities, now, random, log },
      findPlace: need => findPlace(need, this.#desk.jobs.taken, this.#machine, sources.devices()),
      hearsDeclines: () => this.#isOurs,
      isInterrupted: () => this.#desk.jobs.isDraining,
    })
  }

  repeat(_id: string, said: string, signal: AbortSignal): Promise<Answer> {
    return this.#ports.calls.send({ ...(JSON.parse(said) as Word), timeoutMs: CALL_MS, signal })
  }

  goodbye(): Promise<Answer> {
    const json = JSON.stringify({ worker_id: this.#ports.node.workerId })
    const path = '/api/workers/unregister'
    return this.#ports.calls.send({ method: 'POST', path, json, timeoutMs: UNREGISTER_MS })
  }

  #beatBy(id: boolean, signal: AbortSignal): Promise<Answer> {
    const { node } = this.#ports
    const path = id ? `/api/workers/${encodeURIComponent(node.workerId)}/heartbeat` : '/api/workers/heartbeat'
    const [current] = this.#desk.jobs.ids
    const more = current === undefined ? {} : { current_job_id: current }
    return this.#post(path, { ...heartbeatBody(node, this.load), ...more }, signal)
  }

  /** The hub answers in the other way, or has no such route. */
  #switchManner(status: number): void {
    this.#manner = this.#manner === 'workers' ? 'claims' : 'workers'
    this.#ports.log('debug', `the scheduler answered ${status} to a poll; it is asked the other way: ${this.#manner}`)
  }

  #offered(list: unknown): void {
    for (const job of jobsIn(list))
      this.#desk.offered(job.id, () => {
        if (this.#manner === 'workers' || this.hasRoom) this.#take(job)
      })
  }

  /** A job handed out by poll is ours, room or not: it waits for a place, or is given back with the reason. */
  #take(job: TrainforgeJob): void {
    const note = { ...job, manner: this.#manner }
    this.#desk.jobs.take(job.id, note as never, needOf(job, this.#machine), null)
  }

  #post(path: string, body: object, signal: AbortSignal): Promise<Answer> {
    return this.#ports.calls.send({ method: 'POST', path, json: JSON.stringify(body), timeoutMs: CALL_MS, signal })
  }
}

/** A poll is answered with an object, what can be claimed is a bare list. */
function isOfOther(manner: Manner, json: unknown): boolean {
  if (manner === 'workers') return Array.isArray(json)
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

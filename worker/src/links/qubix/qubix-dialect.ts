import type { Log } from '@stoker/files'
import type { Backoff } from '@stoker/net'
import type { Abilities } from '@stoker/protocol'
import type { Workspaces } from '../../run/workspace.ts'
import { type Desk, type Dialect, ForeignLink } from '../foreign/foreign-link.ts'
import { type Answer, type HubCalls, isFine } from '../foreign/hub-calls.ts'
import type { JobJournal } from '../foreign/job-journal.ts'
import { freeGpus } from '../foreign/places.ts'
import type { PutTarget } from '../foreign/put-target.ts'
import type { HeldJob } from '../foreign/talk.ts'
import type { Link, LinkEvents } from '../link.ts'
import type { Sources } from '../sources.ts'
import { capabilitiesOf, jobsIn, listIn, type QubixJob } from './qubix-job.ts'
import { type Provider, registerBody, usageBody } from './qubix-machine.ts'
import { register } from './qubix-register.ts'
import { QubixTalk, sendCompletion } from './qubix-talk.ts'

const CALL_MS = 5_000

export interface QubixTimes {
  readonly heartbeatMs: number
  readonly pollMs: number
  readonly progressMs: number
  readonly backoff: Backoff
}

/** As the documents have it. */
export const QUBIX_TIMES: Omit<QubixTimes, 'progressMs'> = {
  heartbeatMs: 30_000,
  pollMs: 5_000,
  backoff: { baseMs: 1_000, maxMs: 60_000 },
}

export interface QubixPorts extends LinkEvents {
  readonly hub: string
  readonly calls: HubCalls
  readonly provider: Provider
  readonly maxJobs: number
  readonly times: QubixTimes
  readonly journal: JobJournal
  readonly workspaces: Workspaces
  readonly target: PutTarget | null
  readonly sources: Sources
  readonly abilities: () => Abilities
  readonly now: () => number
  readonly random: () => number
  readonly log: Log
}

export function qubixLink(ports: QubixPorts): Link {
  const hangUp = () => {
    ports.calls.close()
    ports.target?.close()
  }
  const of = { ...ports, ...ports.times, samples: ports.sources.gpus, hangUp }
  return new ForeignLink(of, desk => new QubixDialect(ports, desk))
}

/** What a worker says to a QUBIX backend, beyond its single jobs. */
class QubixDialect implements Dialect {
  readonly #ports: QubixPorts
  readonly #desk: Desk

  constructor(ports: QubixPorts, desk: Desk) {
    this.#ports = ports
    this.#desk = desk
  }

  register(signal: AbortSignal): Promise<void> {
    const { calls, provider, sources, abilities } = this.#ports
    const { memoryTotalBytes, memoryUsedBytes } = sources.host()
    const body = registerBody(provider, memoryTotalBytes - memoryUsedBytes, capabilitiesOf(abilities()))
    return register(calls, provider, body, signal)
  }

  beat(signal: AbortSignal): Promise<Answer> {
    return this.#beat(this.#desk.jobs.ids.length > 0 ? 'busy' : 'online', signal)
  }

  get hasRoom(): boolean {
    return this.#desk.jobs.ids.length < this.#ports.maxJobs
  }

  async ask(signal: AbortSignal): Promise<void> {
    const { calls, provider } = this.#ports
    const path = `/api/jobs/pending/${provider.workerId}`
    const answer = await calls.send({ method: 'GET', path, timeoutMs: CALL_MS, signal })
    if (isFine(answer.status)) this.#offered(listIn(answer.json))
  }

  talkAbout(job: HeldJob): QubixTalk {
    const { calls, provider, target, abilities, times, sources, now, random, log } = this.#ports
    const { gpus, memoryBytes } = provider.hardware
    return new QubixTalk(job, {
      ...{ calls, workerId: provider.workerId, target, abilities, now, random, log, gpus, memoryBytes },
      ...{ progressMs: times.progressMs, backoff: times.backoff, samples: sources.gpus, host: sources.host },
      isInterrupted: () => this.#desk.jobs.isDraining,
    })
  }

  repeat(id: string, said: string, signal: AbortSignal): Promise<Answer> {
    return sendCompletion(this.#ports.calls, id, said, signal)
  }

  async goodbye(): Promise<void> {
    await this.#beat('offline')
  }

  async #beat(status: 'online' | 'busy' | 'offline', signal?: AbortSignal): Promise<Answer> {
    const { provider, calls, sources, now } = this.#ports
    const { workerId, hardware } = provider
    const [current = null, ...others] = this.#desk.jobs.ids
    const json = JSON.stringify({
      ...{ workerId, worker_id: workerId, status, currentJob: current, current_job: current },
      ...(others.length === 0 ? {} : { currentJobs: [current, ...others] }),
      usage: usageBody(sources.host(), hardware.gpus, sources.gpus(), now()),
    })
    const path = `/api/providers/${workerId}/heartbeat`
    const answer = await calls.send({ method: 'POST', path, json, timeoutMs: CALL_MS, signal })
    if (isFine(answer.status)) this.#offered((answer.json as { readonly pendingJobs?: unknown } | null)?.pendingJobs)
    return answer
  }

  #offered(list: unknown): void {
    for (const job of jobsIn(list))
      this.#desk.offered(job.id, () => {
        if (this.hasRoom) this.#take(job)
      })
  }

  /** This dialect asks for no devices: a job gets a free one where there is one. */
  #take(job: QubixJob): void {
    const { sources, provider } = this.#ports
    const [gpu] = freeGpus(this.#desk.jobs.taken, provider.hardware, sources.devices())
    const uuids = gpu === undefined ? [] : [gpu.uuid]
    this.#desk.jobs.take(job.id, job as never, { gpus: uuids.length, cpus: 1, memoryBytes: 0 }, uuids)
  }
}

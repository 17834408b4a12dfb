import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@stoker/files'
import type { Backoff } from '@stoker/net'
import type { Abilities, AttemptReport, Fence, OutputStream, Progress } from '@stoker/protocol'
import type { Runner } from '../../run/runner.ts'
import type { Workspaces } from '../../run/workspace.ts'
import { ForeignJobs } from '../foreign/foreign-jobs.ts'
import { type Answer, type HubCalls, isFine } from '../foreign/hub-calls.ts'
import type { JobJournal } from '../foreign/job-journal.ts'
import { freeGpus } from '../foreign/places.ts'
import { Pulse } from '../foreign/pulse.ts'
import type { PutTarget } from '../foreign/put-target.ts'
import type { Link, LinkEvents } from '../link.ts'
import type { Sources } from '../sources.ts'
import { capabilitiesOf, jobsIn, listIn, type QubixJob } from './qubix-job.ts'
import { type Provider, registerBody, usageBody } from './qubix-machine.ts'
import { NoWayIn, register } from './qubix-register.ts'
import { QubixTalk, sendCompletion } from './qubix-talk.ts'

const CALL_MS = 5_000
/** Heartbeats without a good answer before it registers again. */
const MOST_FAILURES = 5
const SAMPLE_MS = 5_000

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

/** A worker at a QUBIX backend: registers, beats, asks for jobs while it has a place, and never forgets one. */
export class QubixLink implements Link {
  readonly #ports: QubixPorts
  readonly #jobs: ForeignJobs
  readonly #poll: Pulse
  readonly #sampling: Pulse
  readonly #stop = new AbortController()
  readonly #resending = new Set<string>()
  #serving: Promise<void> = Promise.resolve()
  #isRegistered = false

  constructor(ports: QubixPorts) {
    this.#ports = ports
    const { times, log, provider, target, sources, abilities, now, random } = ports
    this.#jobs = new ForeignJobs({
      ...{ hub: ports.hub, journal: ports.journal, workspaces: ports.workspaces, now, log },
      freed: () => this.#poll.hurry(),
      talkAbout: job =>
        new QubixTalk(job, {
          ...{ calls: ports.calls, workerId: provider.workerId, target, abilities, now, random, log },
          ...{ progressMs: times.progressMs, backoff: times.backoff, gpus: provider.hardware.gpus },
          ...{ memoryBytes: provider.hardware.memoryBytes, samples: sources.gpus, host: sources.host },
          isInterrupted: () => this.#jobs.isDraining,
        }),
    })
    const failed = (error: unknown) => log('debug', `no answer: ${textOf(error)}`)
    this.#poll = new Pulse({ everyMs: times.pollMs, leastMs: times.pollMs / 10, beat: () => this.#ask(), failed })
    this.#sampling = new Pulse({
      ...{ everyMs: SAMPLE_MS, leastMs: SAMPLE_MS, failed },
      beat: () => this.#jobs.sample(sources.gpus()),
    })
  }

  async start(runner: Runner): Promise<void> {
    await this.#jobs.start(runner)
    this.#sampling.start()
    this.#poll.start()
    this.#serving = this.#serve()
  }

  report(reports: readonly AttemptReport[], sizes?: Readonly<Record<OutputStream, number>>): void {
    this.#jobs.report(reports, sizes)
  }

  output(fence: Fence, sizes: Readonly<Record<OutputStream, number>>): void {
    this.#jobs.output(fence, sizes)
  }

  progress(fence: Fence, progress: Progress): void {
    this.#jobs.progress(fence, progress)
  }

  ready(): void {}

  /** Told when it registers. */
  tellAbilities(): void {}

  drain(): void {
    this.#jobs.drain()
  }

  async leave(_reason: string, withinMs: number): Promise<void> {
    const timeUp = new AbortController()
    await Promise.race([this.#jobs.settled(), sleep(withinMs, undefined, { signal: timeUp.signal }).catch(() => {})])
    timeUp.abort()
    if (this.#isRegistered) await this.#beat('offline').catch(() => null)
    await this.close()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.#jobs.close(), this.#poll.stop(), this.#sampling.stop(), this.#serving])
    this.#ports.calls.close()
    this.#ports.target?.close()
  }

  /** away: registering with growing pauses. registered: beating, until the backend has forgotten us or was silent for too long. */
  async #serve(): Promise<void> {
    const { connection, ready, refused, log } = this.#ports
    const { signal } = this.#stop
    try {
      for (let times = 0; ; times += 1) {
        await this.#register()
        this.#isRegistered = true
        if (times > 0) log('info', 'registered at the backend again')
        connection(true)
        ready()
        this.#poll.hurry()
        await this.#keepBeating()
        this.#isRegistered = false
        connection(false)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NoWayIn)) throw error
      log('error', error.message)
      refused(error.message)
    }
  }

  #register(): Promise<void> {
    const { calls, provider, times, random, log, sources, abilities, hub } = this.#ports
    let said = ''
    return register({
      ...{ calls, provider, random, backoff: times.backoff, signal: this.#stop.signal },
      body: () => {
        const { memoryTotalBytes, memoryUsedBytes } = sources.host()
        return registerBody(provider, memoryTotalBytes - memoryUsedBytes, capabilitiesOf(abilities()))
      },
      failed: ({ message }) => {
        if (message !== said) log('warn', `not registered at ${hub} (${message}); jobs go on, trying again`)
        said = message
      },
    })
  }

  /** Resolves when it is time to register again. */
  async #keepBeating(): Promise<void> {
    const { times, log } = this.#ports
    for (let failures = 0; failures < MOST_FAILURES; ) {
      const answer = await this.#beat(this.#jobs.taken.length > 0 ? 'busy' : 'online').catch(() => null)
      this.#stop.signal.throwIfAborted()
      if (answer?.status === 404) return log('warn', 'the backend does not know this worker any more')
      failures = answer !== null && isFine(answer.status) ? 0 : failures + 1
      if (failures < MOST_FAILURES) await sleep(times.heartbeatMs, undefined, { signal: this.#stop.signal })
    }
    log('warn', `${MOST_FAILURES} heartbeats in a row had no good answer`)
  }

  async #beat(status: 'online' | 'busy' | 'offline'): Promise<Answer> {
    const { provider, calls, sources, now } = this.#ports
    const { workerId, hardware } = provider
    const [current = null, ...others] = this.#jobs.taken.map(({ id }) => id)
    const usage = usageBody(sources.host(), hardware.gpus, sources.gpus(), now())
    const json = JSON.stringify({
      ...{ workerId, worker_id: workerId, status, currentJob: current, current_job: current },
      ...(others.length === 0 ? {} : { currentJobs: [current, ...others] }),
      usage,
    })
    const path = `/api/providers/${workerId}/heartbeat`
    const signal = status === 'offline' ? undefined : this.#stop.signal
    const answer = await calls.send({ method: 'POST', path, json, timeoutMs: CALL_MS, signal })
    if (isFine(answer.status)) this.#offered((answer.json as { readonly pendingJobs?: unknown } | null)?.pendingJobs)
    return answer
  }

  async #ask(): Promise<void> {
    if (!this.#isRegistered || !this.#hasRoom) return
    const { calls, provider } = this.#ports
    const path = `/api/jobs/pending/${provider.workerId}`
    const answer = await calls.send({ method: 'GET', path, timeoutMs: CALL_MS, signal: this.#stop.signal })
    if (isFine(answer.status)) this.#offered(listIn(answer.json))
  }

  get #hasRoom(): boolean {
    return !this.#jobs.isDraining && this.#jobs.taken.length < this.#ports.maxJobs
  }

  #offered(list: unknown): void {
    for (const job of jobsIn(list)) {
      const known = this.#jobs.find(job.id)
      if (known === null && this.#hasRoom) this.#take(job)
      else if (known !== null && known.toldAt !== null && known.said !== null) void this.#resend(job.id, known.said)
    }
  }

  #take(job: QubixJob): void {
    const { sources, provider } = this.#ports
    const [gpu] = freeGpus(this.#jobs.taken, provider.hardware, sources.devices())
    const uuids = gpu === undefined ? [] : [gpu.uuid]
    this.#jobs.take(job.id, job as never, { gpus: uuids.length, cpus: 1, memoryBytes: 0 }, uuids)
  }

  /** A finished job that is offered again: its end was lost over there. It is said again, not done again. */
  async #resend(id: string, said: string): Promise<void> {
    if (this.#resending.has(id)) return
    this.#resending.add(id)
    this.#ports.log('info', `job ${id} was offered again; its end is told again`)
    await sendCompletion(this.#ports.calls, id, said, this.#stop.signal).catch(() => null)
    this.#resending.delete(id)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

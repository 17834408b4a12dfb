import type { HostSample } from '@stoker/protocol'
import { setConnected } from '../../engine/liveness.ts'
import type { WorkerState } from '../../engine/state.ts'
import type { DialectCaller } from '../../serving/dialect-caller.ts'
import { QubixError } from './answers.ts'
import { type HeartbeatBody, type RegisterBody, workerIdIn } from './bodies.ts'
import type { QubixContext } from './context.ts'
import { confirmsPlaceholder } from './gpu-model.ts'
import type { HandOut } from './hand-out.ts'
import { heardOf } from './heard.ts'
import type { JobObject } from './job-object.ts'
import { DIALECT, providerFacts } from './provider-facts.ts'
import { providerId } from './provider-key.ts'
import { freshNote, type ProviderNote, readNote, variantSeen, withRegistration } from './provider-note.ts'
import { gpuSamples, hostSample, type Sample, sampleOf } from './sample.ts'
import { standingOf } from './standing.ts'
import type { Turns } from './turns.ts'

/** Where workers of this dialect introduce themselves, show that they live, and ask for jobs. */
export class ProviderDesk {
  readonly #context: QubixContext
  readonly #turns: Turns
  readonly #handOut: HandOut

  constructor(context: QubixContext, turns: Turns, handOut: HandOut) {
    this.#context = context
    this.#turns = turns
    this.#handOut = handOut
  }

  /** Whoever comes again is the same; another machine under the id of one that has a job changes nothing but a warning. */
  register(caller: DialectCaller, workerId: string, body: RegisterBody): Promise<string> {
    const id = providerId(caller.token, workerId)
    return this.#turns.take(id, async () => {
      const known = await this.#lookOrRefuse(id)
      const note = known?.note ?? freshNote(workerId)
      const host = body.specs?.hostname ?? null
      const isSecond = known?.isBusy === true && host !== null && known.hostname !== host && known.isRegistered
      if (isSecond) this.#warn(note, known.hostname, host)
      await this.#keep(id, caller.owner, isSecond ? { ...note, secondHost: host } : withRegistration(note, body))
      heardOf(this.#context.engine, id)
      return id
    })
  }

  /** Every id is welcome: an old worker that is turned away never registers again. */
  heartbeat(caller: DialectCaller, workerId: string, body: HeartbeatBody): Promise<JobObject | null> {
    const said = body.workerId === undefined && body.worker_id === undefined ? workerId : workerIdIn(body)
    if (said !== workerId) throw new QubixError(400, `the path names worker ${workerId}, the body ${said}`)
    const id = providerId(caller.token, workerId)
    return this.#turns.take(id, async () => {
      const known = await this.#lookOrRefuse(id)
      const sample = sampleOf(body.usage ?? {})
      const before = known?.note ?? freshNote(workerId)
      const seen = seenIn(before, body, sample)
      const note = seen.discardsNext ? { ...seen, discardsNext: false } : seen
      if (known === null || note !== before) await this.#keep(id, caller.owner, note)
      heardOf(this.#context.engine, id)
      if (sample !== null) this.#show(id, sample)
      return this.#answer(id, body, before, note)
    })
  }

  /** Null: nothing for it, or nobody is known by this id. */
  poll(caller: DialectCaller, workerId: string): Promise<JobObject | null> {
    const id = providerId(caller.token, workerId)
    return this.#turns.take(id, async () => {
      const known = await this.#look(id)
      if (known === null) return null
      const note = variantSeen(known.note, 'polls')
      if (note !== known.note) await this.#keep(id, caller.owner, note)
      heardOf(this.#context.engine, id)
      return this.#handOut.deal(id, note)
    })
  }

  async #answer(id: string, body: HeartbeatBody, before: ProviderNote, note: ProviderNote): Promise<JobObject | null> {
    const current = body.currentJob ?? body.current_job ?? null
    if (body.status === 'offline') await this.#leave(id)
    else if (body.status === 'busy' || current !== null) await this.#extend(id, current)
    else if (!before.discardsNext) return this.#handOut.deal(id, note)
    return null
  }

  /** Says so itself: nothing needs to be waited for. */
  async #leave(worker: string): Promise<void> {
    await this.#context.engine.execute({ kind: 'goodbye', worker, reason: 'it says that it is offline' })
    this.#context.engine.touch(state => setConnected(state, worker, false))
    this.#handOut.forget(worker)
  }

  /** It works on what it has. */
  async #extend(worker: string, jobId: string | null): Promise<void> {
    const standing = jobId === null ? null : await standingOf(this.#context, worker, jobId)
    this.#context.engine.touch((state, now) => {
      for (const active of state.workers.get(worker)?.active.values() ?? [])
        if (jobId === null || active.seq === standing?.seq) active.newsAt = now.lease
    })
  }

  async #look(id: string): Promise<Known | null> {
    return this.#context.engine.read(state => knownAs(state.workers.get(id)))
  }

  /** Who it is, if there is room for one more. */
  async #lookOrRefuse(id: string): Promise<Known | null> {
    const { engine, mostWorkers } = this.#context
    const known = await this.#look(id)
    if (known !== null) return known
    const count = await engine.read(state => {
      let found = 0
      for (const { facts } of state.workers.values()) if (facts.dialect?.name === DIALECT) found += 1
      return found
    })
    if (count < mostWorkers) return null
    throw new QubixError(
      429,
      `${count} QUBIX workers are known, at most ${mostWorkers} may be; remove those that are gone`,
    )
  }

  /** Facts follow from the note: both are written together, and only if something is new. */
  async #keep(worker: string, owner: string, note: ProviderNote): Promise<void> {
    const { engine } = this.#context
    await Promise.all([
      engine.execute({ kind: 'enlist', worker, facts: providerFacts(worker, owner, note) }),
      engine.execute({ kind: 'note', worker, note: note }),
    ])
  }

  #show(id: string, sample: Sample): void {
    let host: HostSample | null = null
    let uuid: string | undefined
    this.#context.engine.touch(state => {
      const hardware = state.workers.get(id)?.facts.hardware
      host = hostSample(sample, hardware?.memoryBytes ?? 0)
      uuid = hardware?.gpus[0]?.uuid
    })
    this.#context.board.put(id, {
      t: 'live',
      at: this.#context.now(),
      host,
      gpus: [...gpuSamples(sample, uuid)],
      attempts: [],
    })
  }

  #warn(note: ProviderNote, known: string, host: string): void {
    const text = `qubix: ${host} registers as worker ${note.workerId}, which is ${known} and has a job; give each machine a token of its own`
    this.#context.log('warn', text)
  }
}

interface Known {
  readonly note: ProviderNote
  readonly isBusy: boolean
  readonly isRegistered: boolean
  readonly hostname: string
}

function knownAs(worker: WorkerState | undefined): Known | null {
  const note = worker === undefined ? null : readNote(worker.note)
  if (worker === undefined || note === null) return null
  const { hostname } = worker.facts.hardware
  return { note, isBusy: worker.active.size > 0, isRegistered: note.machine !== null, hostname }
}

/** What a heartbeat tells of its sender besides that it lives. */
function seenIn(note: ProviderNote, { usage }: HeartbeatBody, sample: Sample | null): ProviderNote {
  const saysRamUsed = usage != null && ('ramUsedGb' in usage || 'ram_used_gb' in usage)
  const seen = usage == null ? note : variantSeen(note, { saysRamUsed })
  const total = sample?.vramTotalMb ?? null
  return seen.isGpuSeen || total === null || !confirmsPlaceholder(total) ? seen : { ...seen, isGpuSeen: true }
}

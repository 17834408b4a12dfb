import { type Change, type ChangeOf, type Fence, fenceKey, type Shape } from '@stoker/protocol'
import { type Complain, nameFence } from './problems.ts'

interface Held {
  readonly fence: Fence
  readonly worker: string
  readonly gpus: readonly string[]
  /** Taken of each device; null if it has them whole. */
  readonly gpuMemoryMb: number | null
  readonly cpusMilli: number
  readonly memoryMb: number
  /** A task claims only what its session has claimed already. */
  readonly isTask: boolean
}

interface Capacity {
  readonly name: string
  cpusMilli: number
  memoryMb: number
  slots: number
  /** Device uuid → its memory. */
  gpus: ReadonlyMap<string, number>
  isDraining: boolean
  slotsUsed: number
  cpusMilliUsed: number
  memoryMbUsed: number
}

/** Counts what every attempt claims, lost ones included, and looks at each placement whether it was still there to be given. */
export class ClaimBook {
  readonly #complain: Complain
  readonly #isWhole: boolean
  readonly #shapes = new Map<number, Shape>()
  readonly #bucketOf = new Map<number, number>()
  readonly #workers = new Map<string, Capacity>()
  readonly #devices = new Map<string, Set<Held>>()
  readonly #quarantined = new Set<string>()
  readonly #claims = new Map<string, Held>()

  constructor(complain: Complain, isWhole: boolean) {
    this.#complain = complain
    this.#isWhole = isWhole
  }

  /** Attempts that still claim something. */
  get size(): number {
    return this.#claims.size
  }

  take(change: Change): void {
    switch (change.c) {
      case 'bucket':
        this.#shapes.set(change.id, change.shape)
        break
      case 'submitted':
        for (const { seq, bucket } of change.jobs) this.#bucketOf.set(seq, bucket)
        break
      case 'priority':
        this.#bucketOf.set(change.job, change.bucket)
        break
      case 'worker':
        this.#register(change)
        break
      case 'workerDrained':
        this.#drain(change)
        break
      case 'workerRemoved':
        this.#remove(change.id)
        break
      case 'deviceQuarantined':
        this.#quarantined.add(change.uuid)
        break
      case 'deviceReleased':
        this.#quarantined.delete(change.uuid)
        break
      case 'placed':
        this.#place(change)
        break
      case 'attemptEnded':
        this.#release(change, 'ended')
        if (change.next !== 'queued' && change.next !== 'waiting') this.#bucketOf.delete(change.job)
        break
      case 'released':
        this.#release(change, 'released')
        break
      case 'resumed':
        if (this.#isWhole && !this.#claims.has(fenceKey(change)))
          this.#complain('d', `${nameFence(change)} was resumed, but its resources had been given back`)
        break
      case 'ended':
        this.#bucketOf.delete(change.job)
        break
      default:
    }
  }

  #register(change: ChangeOf<'worker'>): void {
    const { id, name, cpusMilli, memoryMb, maxJobs, hardware } = change
    const gpus = new Map(hardware.gpus.map(gpu => [gpu.uuid, gpu.memoryMb]))
    const known = this.#workers.get(id)
    if (known !== undefined) Object.assign(known, { cpusMilli, memoryMb, slots: maxJobs, gpus })
    else {
      const fresh = { slotsUsed: 0, cpusMilliUsed: 0, memoryMbUsed: 0, isDraining: false }
      this.#workers.set(id, { name, cpusMilli, memoryMb, slots: maxJobs, gpus, ...fresh })
    }
  }

  #drain({ id, on }: ChangeOf<'workerDrained'>): void {
    const worker = this.#workers.get(id)
    if (worker !== undefined) worker.isDraining = on
  }

  #remove(id: string): void {
    for (const { fence, worker } of [...this.#claims.values()]) if (worker === id) this.#release(fence, 'released')
    this.#workers.delete(id)
  }

  #place(change: ChangeOf<'placed'>): void {
    const { job, epoch, attempt, gpus } = change
    const worker = this.#workers.get(change.worker)
    const shape = this.#shapes.get(this.#bucketOf.get(job) ?? -1)
    if (worker === undefined || shape === undefined) {
      if (this.#isWhole) this.#complain('d', `${nameFence(change)} was placed on ${change.worker}, which is not there`)
      return
    }
    const { cpusMilli, memoryMb } = shape
    const gpuMemoryMb = shape.gpuSharing === 'shared' ? shape.gpuMemoryMb : null
    const isTask = change.session !== undefined
    const held: Held = {
      fence: { job, epoch, attempt },
      worker: change.worker,
      gpus,
      gpuMemoryMb,
      cpusMilli,
      memoryMb,
      isTask,
    }
    const key = fenceKey(change)
    if (this.#claims.has(key)) this.#complain('b', `${nameFence(change)} was placed twice; a fence names one placement`)
    this.#claims.set(key, held)
    if (isTask) return
    worker.slotsUsed += 1
    worker.cpusMilliUsed += cpusMilli
    worker.memoryMbUsed += memoryMb
    this.#audit(worker, held, shape)
    for (const uuid of gpus) this.#devices.set(uuid, (this.#devices.get(uuid) ?? new Set()).add(held))
  }

  #audit(worker: Capacity, held: Held, shape: Shape): void {
    const { fence, gpus, cpusMilli, memoryMb } = held
    const { name, slots, slotsUsed, cpusMilliUsed, memoryMbUsed } = worker
    if (worker.isDraining) this.#blame(fence, name, ', which is draining')
    if (slotsUsed > slots) this.#blame(fence, name, `, which then has ${slotsUsed} attempts and ${slots} slots`)
    if (cpusMilli > 0 && cpusMilliUsed > worker.cpusMilli)
      this.#blame(fence, name, `, where ${cpusMilliUsed} of ${worker.cpusMilli} milli-CPUs are then claimed`)
    if (memoryMb > 0 && memoryMbUsed > worker.memoryMb)
      this.#blame(fence, name, `, where ${memoryMbUsed} of ${worker.memoryMb} MB are then claimed`)
    const distinct = gpus.length < 2 ? gpus.length : new Set(gpus).size
    if (distinct !== shape.gpus) this.#blame(fence, name, ` with ${distinct} GPUs, its shape needs ${shape.gpus}`)
    for (const uuid of gpus)
      this.#auditDevice(uuid, held, worker.gpus.get(uuid), text =>
        this.#blame(fence, name, ` with GPU ${uuid}, ${text}`),
      )
  }

  #blame(fence: Fence, worker: string, text: string): void {
    this.#complain('d', `${nameFence(fence)} was placed on worker ${worker}${text}`)
  }

  /** Whole devices and parts never mix, and parts never exceed the whole. */
  #auditDevice(
    uuid: string,
    { gpuMemoryMb }: Held,
    deviceMb: number | undefined,
    complain: (text: string) => void,
  ): void {
    if (deviceMb === undefined) complain('which that worker does not have')
    if (this.#quarantined.has(uuid)) complain('which is quarantined')
    const holders = [...(this.#devices.get(uuid) ?? [])]
    const whole = holders.find(holder => gpuMemoryMb === null || holder.gpuMemoryMb === null)
    if (whole !== undefined) complain(`which ${nameFence(whole.fence)} holds`)
    const takenMb = holders.reduce((sum, holder) => sum + (holder.gpuMemoryMb ?? 0), gpuMemoryMb ?? 0)
    if (deviceMb !== undefined && takenMb > deviceMb) complain(`where ${takenMb} of ${deviceMb} MiB are then claimed`)
  }

  #release(fence: Fence, how: string): void {
    const key = fenceKey(fence)
    const held = this.#claims.get(key)
    if (held === undefined) {
      if (this.#isWhole) this.#complain('d', `${nameFence(fence)} is ${how}, but it claims nothing`)
      return
    }
    this.#claims.delete(key)
    const worker = this.#workers.get(held.worker)
    if (worker !== undefined && !held.isTask) {
      worker.slotsUsed -= 1
      worker.cpusMilliUsed -= held.cpusMilli
      worker.memoryMbUsed -= held.memoryMb
    }
    for (const uuid of held.gpus) {
      const holders = this.#devices.get(uuid)
      holders?.delete(held)
      if (holders?.size === 0) this.#devices.delete(uuid)
    }
  }
}

import type { Client } from './client.ts'
import { type FaultPlan, outageMs } from './faults.ts'
import type { SimHub } from './hub/sim-hub.ts'
import type { Network } from './network.ts'
import type { SimWorker } from './worker/sim-worker.ts'
import type { Random } from './world/random.ts'
import type { Timeline } from './world/timeline.ts'

/** Longer than a worker that is leaving takes. */
const LEAVING_MS = 15_000

export interface DisturbancePorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly plan: FaultPlan
  readonly hub: SimHub
  readonly workers: readonly SimWorker[]
  readonly network: Network
  readonly client: Client
  readonly setWorkerSkew: (worker: SimWorker, skewMs: number) => void
}

/** Breaks things for a while, then mends them all. */
export class Disturbance {
  readonly #ports: DisturbancePorts
  #isOver = false

  constructor(ports: DisturbancePorts) {
    this.#ports = ports
  }

  get isOver(): boolean {
    return this.#isOver
  }

  start(): void {
    const { plan } = this.#ports
    for (const [name, everyMs] of Object.entries(plan.everyMs))
      if (everyMs !== null) this.#repeat(everyMs, this.#faults[name as keyof FaultPlan['everyMs']])
  }

  /** Everything works from now on; what happens next is up to the system. */
  heal(): void {
    const { hub, workers, network } = this.#ports
    this.#isOver = true
    network.heal()
    hub.freeDisk()
    hub.skewMs = 0
    hub.resume()
    if (!hub.isUp) hub.start()
    for (const worker of workers) {
      this.#ports.setWorkerSkew(worker, 0)
      worker.resume()
      this.#restart(worker)
      hub.execute({ kind: 'drain', worker: worker.id, on: false }, ignore, ignore)
      this.#ports.timeline.in(LEAVING_MS, () => this.#restart(worker))
    }
  }

  crashHub(): void {
    const { hub, network, random } = this.#ports
    if (!hub.isUp) return
    hub.crash()
    network.hubDied()
    this.#later(outageMs(random) / 2, () => {
      if (!hub.isUp) hub.start()
    })
  }

  readonly #faults: Readonly<Record<keyof FaultPlan['everyMs'], () => void>> = {
    'crash-hub': () => this.crashHub(),
    'crash-worker': () => {
      const worker = this.#anyWorker()
      worker.crash()
      if (this.#ports.random.chance(0.25)) worker.machine.reboot()
      this.#restartLater(worker)
    },
    partition: () => this.#ports.network.cutOff(this.#anyWorker().id, outageMs(this.#ports.random)),
    pause: () => {
      const { random, hub } = this.#ports
      const paused = random.chance(0.4) ? hub : this.#anyWorker()
      paused.pause()
      this.#later(outageMs(random), () => paused.resume())
    },
    clock: () => {
      const { random, hub } = this.#ports
      const skewMs = (random.chance(0.5) ? 1 : -1) * random.pick([1_000, 60_000, 3_600_000, 172_800_000])
      if (random.chance(0.5)) hub.skewMs = skewMs
      else this.#ports.setWorkerSkew(this.#anyWorker(), skewMs)
    },
    'disk-full': () => {
      const { hub, random } = this.#ports
      hub.isDiskFull = true
      this.#later(outageMs(random), () => hub.freeDisk())
    },
    break: () => this.#ports.network.breakOff(this.#anyWorker().id),
    operator: () => {
      const { random, client, hub } = this.#ports
      if (random.chance(0.1)) client.cancelGroup()
      else if (client.accepted.length > 0 && random.chance(0.4)) client.cancel(random.pick(client.accepted))
      else if (client.accepted.length > 0 && random.chance(0.7)) client.wish(random.pick(client.accepted.slice(-20)))
      else hub.execute({ kind: 'drain', worker: this.#anyWorker().id, on: random.chance(0.5) }, ignore, ignore)
    },
    leave: () => {
      const worker = this.#anyWorker()
      worker.leave('the owner needs the machine')
      this.#later(LEAVING_MS, () => this.#restart(worker))
    },
    remove: () => {
      this.#ports.hub.execute({ kind: 'removeWorker', worker: this.#anyWorker().id }, ignore, ignore)
    },
  }

  #anyWorker(): SimWorker {
    return this.#ports.random.pick(this.#ports.workers)
  }

  #restartLater(worker: SimWorker): void {
    this.#later(outageMs(this.#ports.random), () => this.#restart(worker))
  }

  /** Who was refused waits for a new token instead. */
  #restart(worker: SimWorker): void {
    if (!worker.isUp && worker.refusal === null) worker.start()
  }

  #repeat(everyMs: number, fault: () => void): void {
    this.#later(this.#ports.random.pauseMs(everyMs), () => {
      fault()
      this.#repeat(everyMs, fault)
    })
  }

  #later(ms: number, run: () => void): void {
    this.#ports.timeline.in(ms, () => {
      if (!this.#isOver) run()
    })
  }
}

function ignore(): void {}

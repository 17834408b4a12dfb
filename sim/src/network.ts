import { decodeFrame, encodeFrame, HubMessage, WorkerMessage } from '@stoker/protocol'
import type { WorkerFrame } from './hub/sim-connection.ts'
import type { SimHub } from './hub/sim-hub.ts'
import type { SimWorkerPorts } from './worker/sim-worker.ts'
import type { Random } from './world/random.ts'
import type { Timeline } from './world/timeline.ts'
import { type Closing, Wire } from './world/wire.ts'

const DIAL_MS = 10_000

export interface NetworkPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly hub: SimHub
  /** Whether bytes are encoded, parsed and checked as on a real wire. */
  readonly isEncoded: boolean
  readonly isFaulty: () => boolean
  readonly hubSays: (worker: string, message: HubMessage) => void
  /** The hash of the join token a worker has now. */
  readonly joinHash: (worker: string) => string
}

type AnyWire = Wire<WorkerFrame, HubMessage>

/** Everything between workers and the hub: connections, and who is cut off from whom. */
export class Network {
  readonly #ports: NetworkPorts
  readonly #wires = new Map<AnyWire, string>()
  readonly #cutUntil = new Map<string, number>()

  constructor(ports: NetworkPorts) {
    this.#ports = ports
  }

  dial(worker: string): SimWorkerPorts['dial'] {
    return ears => {
      const { timeline, random } = this.#ports
      const isCut = (this.#cutUntil.get(worker) ?? 0) > timeline.now
      if (isCut) timeline.in(DIAL_MS, ears.closed)
      else timeline.in(this.#latencyMs(), () => this.#connect(worker, ears, random))
    }
  }

  cutOff(worker: string, ms: number): void {
    this.#cutUntil.set(worker, this.#ports.timeline.now + ms)
  }

  heal(): void {
    this.#cutUntil.clear()
  }

  /** Breaks the connection of a worker, if it has one. */
  breakOff(worker: string): void {
    const { random } = this.#ports
    for (const [wire, owner] of this.#wires) {
      if (owner !== worker) continue
      wire.breakOff({ hub: this.#noticeMs(), worker: random.chance(0.4) ? 0 : random.between(0, 12_000) })
    }
  }

  /** The hub's process is gone: its kernel closes what it had, unless the machine went with it. */
  hubDied(): void {
    for (const wire of [...this.#wires.keys()]) wire.hangUp('hub', this.#closing())
  }

  #connect(worker: string, ears: Parameters<SimWorkerPorts['dial']>[0], random: Random): void {
    const { hub, timeline, hubSays, joinHash } = this.#ports
    const accepted = hub.accept(
      { secretHash: `secret of ${worker}`, joinHash: joinHash(worker) },
      {
        send: message => {
          hubSays(worker, message)
          wire.toWorker(message)
        },
        hangUp: () => wire.hangUp('hub', this.#closing()),
        answers: () => wire.isOpen('worker') && (this.#cutUntil.get(worker) ?? 0) <= timeline.now,
      },
    )
    if (accepted === null) {
      ears.closed()
      return
    }
    const { connection, process, closed } = accepted
    const wire: AnyWire = new Wire(
      {
        timeline,
        random,
        latencyMs: () => this.#latencyMs(),
        cutUntil: () => this.#cutUntil.get(worker) ?? 0,
      },
      {
        hub: {
          message: frame => {
            if (frame.message.t === 'hello') this.#releaseOld(worker, wire)
            process.enter(() => connection.receive(this.#decode(frame)))
          },
          closed: () => {
            this.#forget(wire)
            process.enter(closed)
          },
        },
        worker: {
          message: message => ears.message(this.#parse(message)),
          closed: () => {
            this.#forget(wire)
            ears.closed()
          },
        },
      },
    )
    this.#wires.set(wire, worker)
    ears.connected({ send: frame => wire.toHub(frame), hangUp: () => wire.hangUp('worker', this.#closing()) })
  }

  /** The worst moment for late bytes of an old connection: while the hub greets the new one. */
  #releaseOld(worker: string, fresh: AnyWire): void {
    const { timeline, random } = this.#ports
    for (const [wire, owner] of this.#wires) {
      if (owner !== worker || wire === fresh) continue
      if (random.chance(0.5)) wire.releaseToHub()
      else timeline.in(random.pauseMs(2), () => wire.releaseToHub())
    }
  }

  #forget(wire: AnyWire): void {
    if (!wire.isOpen('hub') && !wire.isOpen('worker')) this.#wires.delete(wire)
  }

  #closing(): Closing {
    const { random, isFaulty } = this.#ports
    if (!isFaulty()) return { suffix: 'arrives', noticeMs: 0 }
    return { suffix: random.pick(['arrives', 'lost', 'late']), noticeMs: this.#noticeMs() }
  }

  #noticeMs(): number {
    const { random } = this.#ports
    return random.chance(0.7) ? 0 : random.between(0, 40_000)
  }

  #latencyMs(): number {
    const { random, isFaulty } = this.#ports
    return isFaulty() ? random.pauseMs(3) : 1
  }

  #decode(frame: WorkerFrame): WorkerFrame {
    if (!this.#ports.isEncoded) return frame
    const { message, payload } = decodeFrame(encodeFrame(JSON.stringify(frame.message), [frame.payload]))
    return { message: WorkerMessage.parse(message), payload }
  }

  #parse(message: HubMessage): HubMessage {
    return this.#ports.isEncoded ? HubMessage.parse(JSON.parse(JSON.stringify(message))) : message
  }
}

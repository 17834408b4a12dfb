import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

export type Side = 'hub' | 'worker'

/** What one end of a connection hears. */
export interface Ear<Heard> {
  message(message: Heard): void
  closed(why: string): void
}

export interface WirePorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly latencyMs: () => number
  /** Until when nothing passes between the two ends; the past when all is well. */
  readonly cutUntil: () => number
}

/** What becomes of the bytes on their way when one side closes, and how late the other side notices. */
export interface Closing {
  readonly suffix: 'arrives' | 'lost' | 'late'
  readonly noticeMs: number
}

/** One direction: in order, nothing twice; a break loses what is still on its way. */
class Lane<Message> {
  readonly #ports: WirePorts
  readonly #deliver: (message: Message) => void
  #lastAt = 0
  #heldUntil = 0
  #life = 0
  #isOpen = true
  /** What arrived at a stalled place, in order; null while nothing stalls. */
  #stalled: (() => void)[] | null = null

  constructor(ports: WirePorts, deliver: (message: Message) => void) {
    this.#ports = ports
    this.#deliver = deliver
  }

  send(message: Message): void {
    if (this.#isOpen) this.#pass(this.#deliver, message, 0)
  }

  /** The last word; nothing follows. */
  finish(run: () => void, extraMs: number): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#pass(run, undefined, extraMs)
  }

  lose(): void {
    this.#life += 1
  }

  /** What is on its way stays somewhere in between. */
  stall(): void {
    this.#stalled ??= []
  }

  /** A first part of what stalled goes on; the rest is lost. */
  release(share: number): void {
    const waiting = this.#stalled ?? []
    this.#stalled = null
    for (const arrive of waiting.slice(0, Math.ceil(waiting.length * share))) arrive()
  }

  /** What meets a partition waits for its end, in order, as TCP would make it: also what is sent once it was mended waits behind. */
  #pass<Word>(hear: (word: Word) => void, word: Word, extraMs: number): void {
    const { timeline, latencyMs } = this.#ports
    this.#lastAt = Math.max(this.#lastAt, timeline.now + latencyMs() + extraMs)
    const life = this.#life
    const arrive = () => {
      if (life !== this.#life) return
      if (this.#stalled !== null) {
        this.#stalled.push(arrive)
        return
      }
      this.#heldUntil = Math.max(this.#heldUntil, this.#ports.cutUntil())
      if (this.#heldUntil > timeline.now) timeline.at(this.#heldUntil, arrive)
      else hear(word)
    }
    timeline.at(this.#lastAt, arrive)
  }
}

/** One connection between a worker and the hub, with the faults of real ones: late bytes, lost ends, closings noticed late. */
export class Wire<ToHub, ToWorker> {
  readonly #ports: WirePorts
  readonly #ears: { hub: Ear<ToHub> | null; worker: Ear<ToWorker> | null } = { hub: null, worker: null }
  readonly #toHub: Lane<ToHub>
  readonly #toWorker: Lane<ToWorker>

  constructor(ports: WirePorts, ears: { readonly hub: Ear<ToHub>; readonly worker: Ear<ToWorker> }) {
    this.#ports = ports
    this.#ears.hub = ears.hub
    this.#ears.worker = ears.worker
    this.#toHub = new Lane(ports, message => this.#ears.hub?.message(message))
    this.#toWorker = new Lane(ports, message => this.#ears.worker?.message(message))
  }

  isOpen(side: Side): boolean {
    return this.#ears[side] !== null
  }

  toHub(message: ToHub): void {
    if (this.#ears.worker !== null) this.#toHub.send(message)
  }

  toWorker(message: ToWorker): void {
    if (this.#ears.hub !== null) this.#toWorker.send(message)
  }

  /** One side closes: it hears nothing more; the other hears what was on its way or loses it, then the end. */
  hangUp(side: Side, { suffix, noticeMs }: Closing): void {
    const ear = this.#ears[side]
    if (ear === null) return
    this.#ears[side] = null
    const lane = side === 'hub' ? this.#toWorker : this.#toHub
    if (suffix === 'lost') lane.lose()
    else if (suffix === 'late' && side === 'worker') lane.stall()
    const other = side === 'hub' ? 'worker' : 'hub'
    lane.finish(() => this.#close(other, `the ${side} closed the connection`), noticeMs)
    this.#ports.timeline.in(0, () => ear.closed('closed here'))
  }

  /** Bytes the worker sent before it gave this connection up reach the hub after all. */
  releaseToHub(): void {
    this.#toHub.release(this.#ports.random.next())
  }

  /** The connection breaks in the middle: the worker loses what was coming, the hub loses it or gets some of it much later. */
  breakOff(noticeMs: { readonly hub: number; readonly worker: number }): void {
    if (this.#ports.random.chance(0.5)) this.#toHub.stall()
    else {
      this.#toHub.lose()
      this.#toHub.finish(() => this.#close('hub', 'the connection broke'), noticeMs.hub)
    }
    this.#toWorker.lose()
    this.#toWorker.finish(() => this.#close('worker', 'the connection broke'), noticeMs.worker)
  }

  #close(side: Side, why: string): void {
    const ear = this.#ears[side]
    this.#ears[side] = null
    ear?.closed(why)
  }
}

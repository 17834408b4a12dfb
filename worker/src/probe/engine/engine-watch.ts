import { EngineClient } from '@stoker/net'
import type { Containers } from '@stoker/protocol'
import { type EngineAnswer, engineProblem, type FoundEngine } from './find-engine.ts'
import { imageNames } from './image-names.ts'

const IMAGE_EVENTS = `/events?filters=${encodeURIComponent(JSON.stringify({ type: ['image'] }))}`
/** A pull makes several events at once; they are looked at together. */
const SETTLE_MS = 100
/** An engine that hung up, or is not there: it may be back soon. */
const RETURN_MS = 2_000
const ABSENT_MS = 10_000

export interface EngineWatchOptions {
  readonly find: () => Promise<EngineAnswer>
  readonly rules: Pick<Containers, 'allowedImages' | 'allowedMounts' | 'pulls'>
  /** Devices of this machine are simulated: nothing has to be handed to a container. */
  readonly simulated: boolean
  readonly intervalMs: number
  readonly changed: () => void
}

/** What the engine of this machine can do now. `note` says why there is none where one could be. */
export interface EngineState {
  readonly socket: string | null
  readonly containers: Containers | null
  readonly note: string | null
}

const NOTHING: EngineState = { socket: null, containers: null, note: null }

/**
 * Keeps knowing the engine: looks every minute, at once when the engine tells of an image, and when it hangs up.
 * An engine that is started later is found, one that stops is gone at the next look.
 */
export class EngineWatch {
  readonly #options: EngineWatchOptions
  #state = NOTHING
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #events: { readonly socket: string; readonly stop: AbortController } | null = null
  #isStopped = false

  constructor(options: EngineWatchOptions) {
    this.#options = options
  }

  latest(): EngineState {
    return this.#state
  }

  /** Resolves after a look; one that is under way may have begun before what the caller knows of. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look())
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#events?.stop.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return
    const before = JSON.stringify(this.#state)
    this.#state = await this.#find()
    if (this.#isStopped) return
    this.#listen()
    this.#lookIn(this.#state.socket === null ? Math.min(ABSENT_MS, this.#options.intervalMs) : this.#options.intervalMs)
    if (JSON.stringify(this.#state) !== before) this.#options.changed()
  }

  async #find(): Promise<EngineState> {
    const answer = await this.#options.find()
    if (answer.kind !== 'found') return { ...NOTHING, note: engineProblem(answer) }
    try {
      return { socket: answer.socket, containers: await this.#containersOf(answer), note: null }
    } catch (error) {
      return { ...NOTHING, note: `no containers: ${answer.socket}: ${String(error)}` }
    }
  }

  async #containersOf({ socket, engine, version, gpuRuntime }: FoundEngine): Promise<Containers> {
    const { rules, simulated } = this.#options
    const images = await imageNames(new EngineClient({ kind: 'socket', path: socket }), engine)
    const gpus = engine === 'docker' && (gpuRuntime || simulated)
    const { allowedImages, allowedMounts, pulls } = rules
    return { engine, version, gpus, allowedImages, allowedMounts, pulls, images }
  }

  #lookIn(ms: number): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.look(), ms)
  }

  /** One ear at a time, on the engine that was found last. */
  #listen(): void {
    const { socket } = this.#state
    if (socket === (this.#events?.socket ?? null)) return
    this.#events?.stop.abort()
    this.#events = null
    if (socket === null) return
    const stop = new AbortController()
    const events = { socket, stop }
    this.#events = events
    const over = () => {
      if (this.#events !== events) return
      this.#events = null
      this.#lookIn(RETURN_MS)
    }
    void new EngineClient({ kind: 'socket', path: socket })
      .stream('GET', IMAGE_EVENTS, stop.signal, () => this.#lookIn(SETTLE_MS))
      .then(over, over)
  }
}

import { type Fence, fenceKey, ProgramWatch, type Progress, type RowWrite } from '@stoker/protocol'
import type { OutputChunk, StreamName, StreamOffsets, Streams } from '../../outputs/port.ts'
import type { TrainForgeContext } from './context.ts'

const READ_BYTES = 256 * 1024
const BEGINNING: StreamOffsets = { stdout: 0, stderr: 0 }

interface Listener {
  readonly watch: ProgramWatch
  readonly heard: { stdout: number; stderr: number }
}

/** Output of programs on its way in: kept, then listened to for what they say of their progress and end. */
export class LiveOutput {
  readonly #context: TrainForgeContext
  readonly #listeners = new Map<string, Listener>()
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(context: TrainForgeContext) {
    this.#context = context
  }

  /** Durable when it resolves. */
  take(worker: string, chunk: OutputChunk): Promise<void> {
    return this.#inTurn(chunk.fence, () => this.#store(worker, [chunk]))
  }

  /** Behind what is there already, for senders who know no offsets. */
  add(worker: string, fence: Fence, stream: StreamName, bytes: Uint8Array): Promise<void> {
    return this.#inTurn(fence, async () => {
      const { [stream]: offset } = await this.#context.streams.sizes(fence)
      await this.#store(worker, [{ fence, stream, offset, at: this.#context.clock().wall, bytes }])
    })
  }

  /** What the program said, up to its last line; also what it said to an earlier process of the hub. */
  listened(fence: Fence): Promise<ProgramWatch> {
    return this.#inTurn(fence, async () => {
      const { watch } = await this.#catchUp(fence)
      watch.end()
      return watch
    })
  }

  forget(fence: Fence): void {
    this.#listeners.delete(fenceKey(fence))
  }

  async #store(worker: string, chunks: readonly OutputChunk[]): Promise<void> {
    const { streams, engine } = this.#context
    const rows: readonly RowWrite[] = await streams.append(chunks)
    await engine.execute({ kind: 'report', worker, n: null, reports: [], rows })
    streams.committed(rows)
    for (const { fence } of chunks) await this.#catchUp(fence)
  }

  async #catchUp(fence: Fence): Promise<Listener> {
    const key = fenceKey(fence)
    const listener = this.#listeners.get(key) ?? this.#listen(fence)
    this.#listeners.set(key, listener)
    for (;;) {
      const { pieces, end } = await this.#read(fence, listener.heard)
      for (const { stream, offset, bytes } of pieces) {
        const had = listener.heard[stream] - offset
        if (had >= bytes.length) continue
        listener.watch.push(stream, had > 0 ? bytes.subarray(had) : bytes)
        listener.heard[stream] = offset + bytes.length
      }
      if (end) return listener
    }
  }

  #read(fence: Fence, from: StreamOffsets): ReturnType<Streams['read']> {
    return this.#context.streams.read(fence, from, { maxBytes: READ_BYTES })
  }

  #listen(fence: Fence): Listener {
    const show = (progress: Progress) => {
      const attempts = [{ fence, progress, cpus: null, memoryBytes: null }]
      const live = { t: 'live', at: this.#context.clock().wall, host: null, gpus: [], attempts } as const
      this.#context.board.put('', { ...live, gpus: [], attempts })
    }
    return { watch: new ProgramWatch(show), heard: { ...BEGINNING } }
  }

  #inTurn<T>(fence: Fence, work: () => Promise<T>): Promise<T> {
    const key = fenceKey(fence)
    const done = (this.#turns.get(key) ?? Promise.resolve()).then(work, work)
    const settled = done.catch(() => undefined)
    this.#turns.set(key, settled)
    void settled.then(() => {
      if (this.#turns.get(key) === settled) this.#turns.delete(key)
    })
    return done
  }
}

import { stat } from 'node:fs/promises'
import { basename, isAbsolute, join, normalize, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { matchOutputs, openFileContent } from '@stoker/files'
import { uploadContent } from '@stoker/net'
import { type Checkpoint, isInnerPath, MAX_CHECKPOINT_FILES, type Offer, type ProgramEvent } from '@stoker/protocol'
import type { Transfers } from '../artifacts/transfers.ts'
import type { Delivery } from './delivery.ts'

/** How long the end of a program that did not complete waits for its newest checkpoint. */
const PATIENCE_MS = 60_000
/** Where programs that are kept apart see their folder. */
const INSIDE = '/work'

/** Many may be told at once: by a program in a hurry, or when a restarted worker reads all its output again. */
const SETTLE_MS = 100

interface Told {
  readonly path: string
  readonly step: number
}

/**
 * Brings the newest checkpoint to the hub while the program runs. One at a time: of those that come meanwhile only the
 * newest counts. One that cannot be brought is passed over, for the program may have removed it already.
 */
export class CheckpointStep {
  readonly #offer: Offer
  readonly #folder: string
  readonly #transfers: Transfers
  readonly #delivery: Delivery
  readonly #stop = new AbortController()
  #next: Told | null = null
  #working: Promise<void> | null = null
  #patienceMs = PATIENCE_MS
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(offer: Offer, folder: string, transfers: Transfers, delivery: Delivery) {
    this.#offer = offer
    this.#folder = folder
    this.#transfers = transfers
    this.#delivery = delivery
  }

  heard({ path, step }: ProgramEvent['fields']): void {
    if (typeof path !== 'string' || this.#isOver) return
    this.#next = { path, step: Number.isInteger(step) ? Math.max(0, Number(step)) : 0 }
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  /** The attempt is to end soon. */
  hurry(graceMs: number): void {
    this.#patienceMs = Math.min(this.#patienceMs, graceMs)
    if (this.#isOver && this.#working !== null) this.#startTimer()
  }

  /** Nothing is brought any more once this resolves; what a completed program wrote on its way is of no use. */
  async finish(isCompleted: boolean): Promise<void> {
    this.#isOver = true
    if (this.#working === null) return
    if (isCompleted) this.#stop.abort()
    this.#startTimer()
    await this.#working
    clearTimeout(this.#timer)
  }

  #startTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#stop.abort(), this.#patienceMs)
  }

  async #work(): Promise<void> {
    for (;;) {
      await pause(SETTLE_MS)
      const told = this.#next
      if (told === null || this.#stop.signal.aborted) return
      this.#next = null
      await this.#bring(told).catch(() => {})
    }
  }

  async #bring({ path, step }: Told): Promise<void> {
    const checkpoint = await this.#upload(innerPath(path, join(this.#folder, 'work')), step)
    const { fence } = this.#offer
    if (checkpoint !== null) this.#delivery.report([{ kind: 'checkpoint', fence, at: Date.now(), checkpoint }])
  }

  /** Names and contents are a stranger's: links are not followed, odd names are refused. */
  async #upload(inner: string | null, step: number): Promise<Checkpoint | null> {
    if (inner === null) return null
    const work = join(this.#folder, 'work')
    const kind = (await stat(join(work, inner))).isDirectory() ? 'folder' : 'file'
    const globs = kind === 'folder' ? [`${inner}/**`] : [inner]
    const { paths, count } = await matchOutputs(work, globs, MAX_CHECKPOINT_FILES)
    if (count === 0 || count > MAX_CHECKPOINT_FILES) return null
    const files: Checkpoint['files'] = []
    for (const path of paths) {
      const name = kind === 'file' ? basename(path) : relative(inner, path)
      if (!isInnerPath(name)) return null
      const source = await openFileContent(join(work, path), { name })
      try {
        const { signal } = this.#stop
        const send = this.#transfers.contentOf(this.#offer.fence, source.sha256)
        await uploadContent(send, source, { signal, bandwidth: this.#transfers.bandwidth })
        files.push({ path: name, sha256: source.sha256, size: source.size })
      } finally {
        await source.close()
      }
    }
    return { step, kind, files }
  }
}

/** Below the work folder, however the program names it; null for what lies elsewhere. */
export function innerPath(path: string, work: string): string | null {
  const below = (root: string) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null)
  const inner = normalize(isAbsolute(path) ? (below(work) ?? below(INSIDE) ?? '') : path).replace(/\/$/, '')
  return isInnerPath(inner) ? inner : null
}

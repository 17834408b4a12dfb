import { formatDuration, formatSize, type Progress } from '@stoker/protocol'
import { z } from 'zod'

const PullLine = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).nullish(),
})

/** Too short a time to tell how long the rest takes. */
const FIRST_GUESS_MS = 2_000
const DONE = /^(pull complete|already exists)/i
const LAYER = /^[0-9a-f]{12,64}$/

interface Layer {
  readonly isDone: boolean
  readonly bytes: number
  readonly total: number
}

/** How far a pull is, from the lines an engine tells of it: layers, bytes, and a guess how long it still takes. */
export class PullProgress {
  readonly #image: string
  readonly #layers = new Map<string, Layer>()
  #firstByteAt: number | null = null
  #now = 0

  constructor(image: string) {
    this.#image = image
  }

  /** Whether anything moved; an error of the engine is thrown. */
  hear(line: unknown, now: number): boolean {
    const { status = '', id = '', error, progressDetail } = PullLine.parse(line)
    if (error !== undefined) throw new Error(`image ${this.#image} could not be pulled: ${error}`)
    this.#now = now
    if (!LAYER.test(id)) return false
    const before = this.#layers.get(id) ?? { isDone: false, bytes: -1, total: 0 }
    const next = nextOf(before, status, progressDetail ?? {})
    if (next.bytes > 0) this.#firstByteAt ??= now
    this.#layers.set(id, next)
    return next.isDone !== before.isDone || next.bytes > before.bytes
  }

  get progress(): Progress {
    const layers = [...this.#layers.values()]
    const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0)
    const total = layers.reduce((sum, layer) => sum + layer.total, 0)
    const done = layers.filter(({ isDone }) => isDone).length
    const parts = [
      `pulling ${this.#image}`,
      layers.length === 0 ? '' : `${done} of ${layers.length} layers`,
      total === 0 ? '' : `${formatSize(bytes)} of ${formatSize(total)}`,
      this.#left(bytes, total),
    ]
    return {
      percent: total === 0 ? null : Math.floor((100 * bytes) / total),
      operation: parts.filter(part => part !== '').join(', '),
      metrics: { layersDone: done, layers: layers.length, bytes, totalBytes: total },
    }
  }

  /** Engines fetch few layers at a time, so the total still grows: a guess, and called one. */
  #left(bytes: number, total: number): string {
    const ms = this.#firstByteAt === null ? 0 : this.#now - this.#firstByteAt
    if (ms < FIRST_GUESS_MS || bytes === 0 || bytes >= total) return ''
    return `about ${formatDuration(Math.ceil(((total - bytes) / bytes) * (ms / 1000)) * 1000)} left`
  }
}

/** Bytes count while they are downloaded; what is verified or extracted was counted then. */
function nextOf(
  before: Layer,
  status: string,
  { current, total }: { current?: number | undefined; total?: number | undefined },
): Layer {
  const known = Math.max(0, before.bytes)
  if (DONE.test(status)) return { isDone: true, bytes: before.total, total: before.total }
  if (!/^downloading/i.test(status)) {
    const isWhole = /^(download complete|verifying|extracting)/i.test(status)
    return { ...before, bytes: isWhole ? before.total : known }
  }
  return { isDone: false, bytes: Math.max(known, current ?? 0), total: Math.max(before.total, total ?? 0) }
}

import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { wholeLines } from './whole-lines.ts'

/** Above this the journal is written anew with only what still matters. */
const COMPACT_BYTES = 256 * 1024
const NAME = 'tasks.jsonl'

const FileState = z.object({ size: z.number(), dropped: z.number(), isOver: z.boolean() })
const Stopped = z.object({ cause: z.string(), text: z.string() })

/** A task that was handed over: its number, when, and where in the session's stdout it began. */
const HandedOver = z.object({ n: z.number(), id: z.string(), key: z.string(), at: z.number(), startedAt: z.number() })
export type HandedOver = Readonly<z.infer<typeof HandedOver>>

/** As it was when everything before `at` had been heard. */
const Heard = z.object({
  at: z.number(),
  nextLine: z.number(),
  own: FileState,
  places: z.object({ isReady: z.boolean(), hasFinished: z.boolean(), opener: z.string().nullable() }),
  tasks: z.array(HandedOver.extend({ file: FileState })),
})
export type Heard = Readonly<z.infer<typeof Heard>>

const Entry = z.union([
  z.object({ heard: Heard }),
  z.object({ task: HandedOver }),
  z.object({ stop: Stopped }),
  z.object({ taskStop: Stopped.extend({ key: z.string() }) }),
])

export type Stopped = Readonly<z.infer<typeof Stopped>>

const NOTHING_HEARD: Heard = {
  at: 0,
  nextLine: 1,
  own: { size: 0, dropped: 0, isOver: false },
  places: { isReady: false, hasFinished: false, opener: null },
  tasks: [],
}

/**
 * What a session did that its program's output does not say: which task was handed over where, and who asked to stop.
 * Together with the output from `heard` on, all else follows again: which line was whose, and which task ended how.
 * Written before it is acted on, into the page cache, which outlives the worker's death.
 */
export class SessionJournal {
  readonly heard: Heard
  /** Handed over since `heard`, in order. */
  readonly tasks: readonly HandedOver[]
  readonly stop: Stopped | null
  readonly taskStops: ReadonlyMap<string, Stopped>
  readonly #path: string
  #fd: number
  #size: number
  #bytes = 0
  #next: number
  readonly #stops: z.infer<typeof Entry>[]

  constructor(folder: string) {
    this.#path = join(folder, NAME)
    const entries = wholeLines(this.#path).map(line => Entry.parse(JSON.parse(line)))
    this.heard = entries.flatMap(entry => ('heard' in entry ? [entry.heard] : [])).at(-1) ?? NOTHING_HEARD
    this.tasks = entries.flatMap(entry => ('task' in entry ? [entry.task] : []))
    this.stop = entries.flatMap(entry => ('stop' in entry ? [entry.stop] : []))[0] ?? null
    this.taskStops = new Map(
      entries.flatMap(entry => ('taskStop' in entry ? [[entry.taskStop.key, entry.taskStop] as const] : [])),
    )
    this.#stops = entries.filter(entry => 'stop' in entry || 'taskStop' in entry)
    this.#next = Math.max(this.heard.nextLine, 1 + (this.tasks.at(-1)?.n ?? 0))
    this.#fd = openSync(this.#path, 'a', 0o600)
    this.#size = fstatSync(this.#fd).size
  }

  static isIn(folder: string): boolean {
    return existsSync(join(folder, NAME))
  }

  get nextLine(): number {
    return this.#next
  }

  get isLong(): boolean {
    return this.#bytes > COMPACT_BYTES
  }

  /** Throws when the disk takes nothing: then the task must not be handed over. */
  handedOver(task: HandedOver): void {
    this.#append({ task })
    this.#next = task.n + 1
  }

  stopped(stop: Stopped): void {
    this.#keep({ stop })
  }

  taskStopped(key: string, { cause, text }: Stopped): void {
    this.#keep({ taskStop: { key, cause, text } })
  }

  /** From here on the journal begins with this, and the output before it is not needed any more. */
  compact(heard: Heard): void {
    const fresh = `${this.#path}.new`
    writeFileSync(fresh, [{ heard }, ...this.#stops].map(entry => `${JSON.stringify(entry)}\n`).join(''), {
      mode: 0o600,
    })
    renameSync(fresh, this.#path)
    closeSync(this.#fd)
    this.#fd = openSync(this.#path, 'a', 0o600)
    this.#size = fstatSync(this.#fd).size
    this.#bytes = 0
  }

  close(): void {
    closeSync(this.#fd)
  }

  /** What is to be stopped is stopped also when a full disk takes no word of it. */
  #keep(entry: z.infer<typeof Entry>): void {
    this.#stops.push(entry)
    try {
      this.#append(entry)
    } catch {
      return
    }
  }

  /** All of it or nothing: half a line would spoil the next one. */
  #append(entry: z.infer<typeof Entry>): void {
    const bytes = Buffer.from(`${JSON.stringify(entry)}\n`)
    const before = this.#size
    let written = 0
    try {
      written = writeSync(this.#fd, bytes)
    } finally {
      if (written < bytes.length) ftruncateSync(this.#fd, before)
    }
    if (written < bytes.length) throw new Error('the disk is full')
    this.#size += written
    this.#bytes += written
  }
}

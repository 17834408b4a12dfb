import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

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
  #bytes = 0
  #next: number
  #stops: z.infer<typeof Entry>[]

  constructor(folder: string) {
    this.#path = join(folder, NAME)
    const entries = existsSync(this.#path) ? readEntries(this.#path) : []
    this.heard = entries.flatMap(entry => ('heard' in entry ? [entry.heard] : [])).at(-1) ?? NOTHING_HEARD
    this.tasks = entries.flatMap(entry => ('task' in entry ? [entry.task] : []))
    this.stop = entries.flatMap(entry => ('stop' in entry ? [entry.stop] : []))[0] ?? null
    this.taskStops = new Map(
      entries.flatMap(entry => ('taskStop' in entry ? [[entry.taskStop.key, entry.taskStop] as const] : [])),
    )
    this.#stops = entries.filter(entry => 'stop' in entry || 'taskStop' in entry)
    this.#next = Math.max(this.heard.nextLine, 1 + (this.tasks.at(-1)?.n ?? 0))
    this.#fd = openSync(this.#path, 'a', 0o600)
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

  handedOver(task: HandedOver): void {
    this.#next = task.n + 1
    this.#append({ task })
  }

  stopped(stop: Stopped): void {
    this.#append(this.#keep({ stop }))
  }

  taskStopped(key: string, { cause, text }: Stopped): void {
    this.#append(this.#keep({ taskStop: { key, cause, text } }))
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
    this.#bytes = 0
  }

  close(): void {
    closeSync(this.#fd)
  }

  #keep(entry: z.infer<typeof Entry>): z.infer<typeof Entry> {
    this.#stops.push(entry)
    return entry
  }

  #append(entry: z.infer<typeof Entry>): void {
    this.#bytes += writeSync(this.#fd, `${JSON.stringify(entry)}\n`)
  }
}

/** A line cut off by the worker's death was not acted on. */
function readEntries(path: string): z.infer<typeof Entry>[] {
  const text = readFileSync(path, 'utf8')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(line => line !== '')
    .map(line => Entry.parse(JSON.parse(line)))
}

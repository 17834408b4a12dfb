import type { ProgramEvent } from '@stoker/protocol'

/** What the places need to know of a task. */
export interface Placed {
  readonly id: string
  readonly n: number
}

/**
 * The places of a session and whose line is whose. With one place everything is its task's. With several, a line says
 * `task_id`; one that does not is the task's that opened the session until the first finish, and later the only task's.
 */
export class TaskPlaces<T extends Placed> {
  readonly #count: number
  readonly #tasks = new Map<string, T>()
  #opener: string | null
  /** The program has said that it is ready, or finished a task. */
  #isReady: boolean
  #hasFinished: boolean

  constructor(count: number, saved = { isReady: false, hasFinished: false, opener: null as string | null }) {
    this.#count = count
    this.#isReady = saved.isReady
    this.#hasFinished = saved.hasFinished
    this.#opener = saved.opener
  }

  get state() {
    return { isReady: this.#isReady, hasFinished: this.#hasFinished, opener: this.#opener }
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get isFull(): boolean {
    return this.#tasks.size >= this.#count
  }

  get size(): number {
    return this.#tasks.size
  }

  get all(): readonly T[] {
    return [...this.#tasks.values()]
  }

  place(task: T): void {
    if (task.n === 1 && !this.#isReady) this.#opener = task.id
    this.#tasks.set(task.id, task)
  }

  remove({ id }: T): void {
    this.#tasks.delete(id)
  }

  isOpener({ id }: T): boolean {
    return this.#opener === id
  }

  /** Whose line this is; null when it is nobody's but the session's. */
  ownerOf(event: ProgramEvent | null, text: string | null): T | null {
    if (this.#tasks.size === 0) return null
    const named = this.#count > 1 && event !== null && text !== null ? taskNamed(text) : null
    if (named !== null) return this.#tasks.get(named) ?? null
    const opener = this.#hasFinished || this.#opener === null ? undefined : this.#tasks.get(this.#opener)
    return opener ?? (this.#tasks.size === 1 ? this.#only() : null)
  }

  /** True when the program has just become ready. */
  hear({ event, fields }: ProgramEvent): boolean {
    if (event === 'finish') this.#hasFinished = true
    const isSaid = event === 'finish' || (event === 'worker' && READY.has(String(fields.status)))
    if (!isSaid || this.#isReady) return false
    this.#isReady = true
    return true
  }

  #only(): T | null {
    return this.#tasks.values().next().value ?? null
  }
}

const READY: ReadonlySet<string> = new Set(['ready', 'waiting'])

/** The task an event names, at its top or among its data. */
function taskNamed(text: string): string | null {
  if (!text.includes('"task_id"')) return null
  const { task_id: id, data } = JSON.parse(text)
  const named = id ?? (typeof data === 'object' ? data?.task_id : undefined)
  return typeof named === 'string' ? named : null
}

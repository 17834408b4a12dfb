import { closeSync, constants, openSync, writeSync } from 'node:fs'

/** What events may still take beyond the limit, so that how a task finished is always heard. */
const EVENT_ROOM_BYTES = 16 * 1024 * 1024
const NOTICE = Buffer.from('\nstoker: the output limit is reached; only events are kept from here on\n')

/** How far a file of lines was written; from the same point the same lines make the same file. */
export interface LineFileState {
  readonly size: number
  readonly dropped: number
  readonly isOver: boolean
}

export const EMPTY_FILE: LineFileState = { size: 0, dropped: 0, isOver: false }

/** Collects the lines that belong to one reader of a shared stdout, up to a limit. Lines added are good until the next flush. */
export class LineFile {
  readonly #path: string
  readonly #limitBytes: number
  #state: LineFileState
  #added: Uint8Array[] = []
  #written: number
  #fd: number | null = null

  constructor(path: string, limitBytes: number, state: LineFileState = EMPTY_FILE) {
    this.#path = path
    this.#limitBytes = limitBytes
    this.#state = state
    this.#written = state.size
  }

  get state(): LineFileState {
    return this.#state
  }

  get size(): number {
    return this.#state.size
  }

  add(bytes: Uint8Array, isEvent: boolean): void {
    const { size, dropped, isOver } = this.#state
    if (!isOver && size + bytes.length <= this.#limitBytes) {
      this.#keep(bytes)
      return
    }
    if (!isOver) {
      this.#keep(NOTICE)
      this.#state = { ...this.#state, isOver: true }
    }
    if (isEvent && size + bytes.length <= this.#limitBytes + EVENT_ROOM_BYTES) this.#keep(bytes)
    else this.#state = { ...this.#state, dropped: dropped + bytes.length }
  }

  /** True when there was something to write. On a full disk it is counted as dropped. */
  flush(): boolean {
    if (this.#added.length === 0) return false
    const bytes = this.#added.length === 1 && this.#added[0] !== undefined ? this.#added[0] : Buffer.concat(this.#added)
    this.#added = []
    try {
      this.#fd ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at, bytes.length - at, this.#written + at)
    } catch {
      this.#state = { ...this.#state, size: this.#written, dropped: this.#state.dropped + bytes.length }
      return false
    }
    this.#written = this.#state.size
    return true
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  #keep(bytes: Uint8Array): void {
    this.#added.push(bytes)
    this.#state = { ...this.#state, size: this.#state.size + bytes.length }
  }
}

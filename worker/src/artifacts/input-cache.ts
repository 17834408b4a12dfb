import { chmod, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytes } from '@stoker/files'
import { type ContentName, type ContentSend, downloadContent, type TransferOptions } from '@stoker/net'
import { formatSize } from '@stoker/protocol'

const NAME = /^[0-9a-f]{64}$/
const PARTIAL = /^partial-[0-9a-f]{64}$/
/** A part nobody came back for in this time is not waited for any more. */
const FORGET_PARTIAL_MS = 86_400_000
/** Room that is always left to the rest of the machine. */
const SPARE_BYTES = 256e6

/** A file of the cache that stays until it is released; it must not be written to. */
export interface HeldInput {
  readonly path: string
  readonly release: () => void
}

interface Entry {
  readonly size: number
  usedAt: number
  holders: number
}

interface Fetching {
  readonly done: Promise<void>
  readonly listeners: Set<(bytes: number) => void>
}

/**
 * Inputs by their hash, shared by all attempts. A file appears under its name only when it is whole, checked and synced;
 * parts wait beside it and are continued, also by the next process. Above the limit the longest unused go first.
 */
export class InputCache {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  readonly #fetching = new Map<string, Fetching>()

  private constructor(folder: string, maxBytes: number, now: () => number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#now = now
  }

  static async open(folder: string, maxBytes: number, now = () => Date.now()): Promise<InputCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const cache = new InputCache(folder, maxBytes, now)
    for (const name of await readdir(folder)) {
      const { size, mtimeMs } = await stat(join(folder, name))
      if (NAME.test(name)) cache.#entries.set(name, { size, usedAt: mtimeMs, holders: 0 })
      else if (!PARTIAL.test(name) || now() - mtimeMs > FORGET_PARTIAL_MS) await rm(join(folder, name))
    }
    await cache.#makeRoom(0)
    return cache
  }

  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** The file with this content: at once if it is here, else fetched; attempts that want the same wait for one download. */
  async hold(content: ContentName, send: ContentSend, options: TransferOptions = {}): Promise<HeldInput> {
    const { sha256, size } = content
    for (;;) {
      options.signal?.throwIfAborted()
      const entry = this.#entries.get(sha256)
      if (entry !== undefined) return this.#held(sha256, entry, options)
      const fetching = this.#fetching.get(sha256)
      if (fetching === undefined) {
        const fetched = await this.#fetch(content, send, options)
        fetched.holders -= 1
        return this.#held(sha256, fetched, options)
      }
      await joined(fetching, options)
      if (!this.#entries.has(sha256)) continue
      options.onBytes?.(size)
    }
  }

  async #held(sha256: string, entry: Entry, options: TransferOptions): Promise<HeldInput> {
    entry.holders += 1
    entry.usedAt = this.#now()
    options.onBytes?.(entry.size)
    const path = join(this.#folder, sha256)
    await utimes(path, new Date(entry.usedAt), new Date(entry.usedAt))
    let isHeld = true
    const release = () => {
      if (!isHeld) return
      isHeld = false
      entry.holders -= 1
      void this.#makeRoom(0)
    }
    return { path, release }
  }

  async #fetch(content: ContentName, send: ContentSend, options: TransferOptions): Promise<Entry> {
    const listeners = new Set([options.onBytes ?? (() => {})])
    const onBytes = (bytes: number) => {
      for (const listener of listeners) listener(bytes)
    }
    const work = this.#download(content, send, { ...options, onBytes })
    const done = work.then(
      () => {},
      () => {},
    )
    this.#fetching.set(content.sha256, { done, listeners })
    try {
      return await work
    } finally {
      this.#fetching.delete(content.sha256)
    }
  }

  async #download(content: ContentName, send: ContentSend, options: TransferOptions): Promise<Entry> {
    const { sha256, size } = content
    await this.#makeRoom(size)
    const { freeBytes: free } = await freeBytes(this.#folder)
    if (free < size + SPARE_BYTES)
      throw new Error(`an input of ${formatSize(size)} needs room, the worker's disk has ${formatSize(free)} left`)
    const partial = join(this.#folder, `partial-${sha256}`)
    await downloadContent(send, content, partial, options)
    await chmod(partial, 0o400)
    await rename(partial, join(this.#folder, sha256))
    // Held from its first moment: room made for others must not take it from the one who fetched it.
    const entry = { size, usedAt: this.#now(), holders: 1 }
    this.#entries.set(sha256, entry)
    return entry
  }

  /** What attempts hold is never removed, so running work alone may exceed the limit. */
  async #makeRoom(bytes: number): Promise<void> {
    const unused = [...this.#entries].filter(([, { holders }]) => holders === 0)
    unused.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    let excess = this.bytes + bytes - this.#maxBytes
    for (const [sha256, { size }] of unused) {
      if (excess <= 0) return
      this.#entries.delete(sha256)
      excess -= size
      await rm(join(this.#folder, sha256), { force: true })
    }
  }
}

/** Resolves when the download of another attempt is over, well or not; this attempt may be canceled meanwhile. */
async function joined({ done, listeners }: Fetching, { signal, onBytes }: TransferOptions): Promise<void> {
  if (onBytes !== undefined) listeners.add(onBytes)
  let stop = () => {}
  const aborted = new Promise<void>(resolve => {
    stop = resolve
    signal?.addEventListener('abort', stop, { once: true })
  })
  await Promise.race([done, aborted])
  signal?.removeEventListener('abort', stop)
  if (onBytes !== undefined) listeners.delete(onBytes)
}

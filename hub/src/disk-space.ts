import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytes } from '@stoker/files'

/** Enough for the ends and cancels of everything that may run while nothing new is taken. */
const RESERVE_BYTES = 32 * 1024 * 1024
/** New work is refused below this, long before commits fail. */
const NEEDED_BYTES = 256 * 1024 * 1024
const LOOK_AGAIN_MS = 1000

/** Watches the room on the disk and keeps a file that can be given up so that running work still ends. */
export class DiskSpace {
  readonly #folder: string
  readonly #neededBytes: number
  #shortage: { freeBytes: number; neededBytes: number } | null = null
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(folder: string, neededBytes = NEEDED_BYTES) {
    this.#folder = folder
    this.#neededBytes = neededBytes
  }

  readonly guard = async (): Promise<{ freeBytes: number; neededBytes: number } | null> => {
    const at = performance.now()
    if (at - this.#lookedAt > LOOK_AGAIN_MS) {
      this.#lookedAt = at
      const { freeBytes: free } = await freeBytes(this.#folder)
      this.#shortage = free < this.#neededBytes ? { freeBytes: free, neededBytes: this.#neededBytes } : null
    }
    return this.#shortage
  }

  /** Fills the reserve if there is room for it. */
  async fillReserve(): Promise<void> {
    const path = this.#reservePath
    const has = await stat(path).then(
      ({ size }) => size,
      () => 0,
    )
    if (has >= RESERVE_BYTES || (await this.guard()) !== null) return
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(Buffer.alloc(RESERVE_BYTES))
      await file.sync()
    } finally {
      await file.close()
    }
  }

  /** False if it was given up before. */
  readonly openReserve = async (): Promise<boolean> => {
    const there = await stat(this.#reservePath).then(
      () => true,
      () => false,
    )
    await rm(this.#reservePath, { force: true })
    return there
  }

  get #reservePath(): string {
    return join(this.#folder, 'reserve')
  }
}

import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytes } from '@stoker/files'
import { formatSize, Refused } from '@stoker/protocol'

/** Enough for the ends and cancels of everything that may run while nothing new is taken. */
const RESERVE_BYTES = 32 * 1024 * 1024
/** New work is refused below this, long before commits fail. */
const NEEDED_BYTES = 256 * 1024 * 1024

/** Watches the room on the disk and keeps a file that can be given up so that running work still ends. */
export class DiskSpace {
  readonly #folder: string
  readonly #neededBytes: number
  #freeBytes = 0

  constructor(folder: string, neededBytes = NEEDED_BYTES) {
    this.#folder = folder
    this.#neededBytes = neededBytes
  }

  /** To be called every second or so: no submit waits for the disk to say how full it is. */
  async look(): Promise<void> {
    this.#freeBytes = (await freeBytes(this.#folder)).freeBytes
  }

  /** As the last look saw it. */
  readonly guard = (bytes = 0): { freeBytes: number; neededBytes: number } | null => {
    const neededBytes = this.#neededBytes + bytes
    return this.#freeBytes < neededBytes ? { freeBytes: this.#freeBytes, neededBytes } : null
  }

  /** Refuses content that would not leave room for the work of the hub. */
  readonly checkRoom = async (bytes: number): Promise<void> => {
    const shortage = this.guard(bytes)
    if (shortage === null) return
    const [free, needed] = [shortage.freeBytes, shortage.neededBytes].map(formatSize)
    throw new Refused(
      'disk.full',
      `the disk of the hub has ${free} free, this content needs ${needed}; nothing was kept`,
    )
  }

  /** Fills the reserve if there is room for it. */
  async fillReserve(): Promise<void> {
    await this.look()
    const path = this.#reservePath
    const has = await stat(path).then(
      ({ size }) => size,
      () => 0,
    )
    if (has >= RESERVE_BYTES || this.guard() !== null) return
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

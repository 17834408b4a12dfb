import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKER_STATUS_FILE, type WorkerStatus } from '@stoker/protocol'

/** The count of jobs may change thousands of times a second; people look once. */
const LOOK_EVERY_MS = 1000

type Live = Pick<WorkerStatus, 'running' | 'node'>
type Fixed = Omit<WorkerStatus, 'connectedSince' | keyof Live>

/** Keeps the worker's status readable in its data folder while the worker runs; a reader sees whole states only. Nobody waits for the disk meanwhile. */
export class StatusFile {
  readonly #path: string
  readonly #fixed: Fixed
  readonly #live: () => Live
  readonly #timer: NodeJS.Timeout
  #connectedSince: string | null = null
  #written = ''
  #writing: Promise<void> | null = null

  constructor(folder: string, fixed: Fixed, live: () => Live) {
    this.#path = join(folder, WORKER_STATUS_FILE)
    this.#fixed = fixed
    this.#live = live
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#look()
  }

  connection(since: string | null): void {
    this.#connectedSince = since
    this.#look()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await rm(this.#path, { force: true })
  }

  /** What changes while the file is written waits for the next look. */
  #look(): void {
    const status: WorkerStatus = {
      ...this.#fixed,
      connectedSince: this.#connectedSince,
      ...this.#live(),
    }
    const text = JSON.stringify(status)
    if (text === this.#written || this.#writing !== null) return
    this.#writing = this.#write(text).finally(() => {
      this.#writing = null
    })
  }

  /** Not made durable: after a power cut no worker runs anyway. A disk that is full today is tried again at the next look. */
  async #write(text: string): Promise<void> {
    try {
      await writeFile(`${this.#path}~`, text, { mode: 0o600 })
      await rename(`${this.#path}~`, this.#path)
      this.#written = text
    } catch {
      this.#written = ''
    }
  }
}

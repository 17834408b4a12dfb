import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WORKER_STATUS_FILE, type WorkerStatus } from '@stoker/protocol'

/** The count of jobs may change thousands of times a second; people look once. */
const LOOK_EVERY_MS = 1000

type Live = Pick<WorkerStatus, 'running' | 'node'>
type Fixed = Omit<WorkerStatus, 'connectedSince' | keyof Live>

/** Keeps the worker's status readable in its data folder while the worker runs; a reader sees whole states only. */
export class StatusFile {
  readonly #path: string
  readonly #fixed: Fixed
  readonly #live: () => Live
  readonly #timer: NodeJS.Timeout
  #connectedSince: string | null = null
  #written = ''

  constructor(folder: string, fixed: Fixed, live: () => Live) {
    this.#path = join(folder, WORKER_STATUS_FILE)
    this.#fixed = fixed
    this.#live = live
    this.#timer = setInterval(() => this.#write(), LOOK_EVERY_MS)
    this.#write()
  }

  connection(since: string | null): void {
    this.#connectedSince = since
    this.#write()
  }

  close(): void {
    clearInterval(this.#timer)
    rmSync(this.#path, { force: true })
  }

  /** Not made durable: after a power cut no worker runs anyway. */
  #write(): void {
    const status: WorkerStatus = {
      ...this.#fixed,
      connectedSince: this.#connectedSince,
      ...this.#live(),
    }
    const text = JSON.stringify(status)
    if (text === this.#written) return
    writeFileSync(`${this.#path}~`, text, { mode: 0o600 })
    renameSync(`${this.#path}~`, this.#path)
    this.#written = text
  }
}

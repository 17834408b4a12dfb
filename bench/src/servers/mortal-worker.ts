import type { Child } from '../processes/child.ts'
import { type Bundles, type Hub, startWorker, type WorkerOptions } from './stoker.ts'

/** A worker that is killed and comes back. Its programs outlive a kill, so its stop first brings it back to end them. */
export class MortalWorker {
  readonly folder: string
  readonly #start: () => Promise<Child>
  #child: Child
  #isDead = false

  private constructor(folder: string, start: () => Promise<Child>, child: Child) {
    this.folder = folder
    this.#start = start
    this.#child = child
  }

  static async start(bundles: Bundles, hub: Hub, folder: string, options: WorkerOptions): Promise<MortalWorker> {
    const start = () => startWorker(bundles, hub, folder, options)
    return new MortalWorker(folder, start, await start())
  }

  get pid(): number {
    return this.#child.pid
  }

  async kill(): Promise<void> {
    this.#isDead = true
    await this.#child.kill()
  }

  /** Says goodbye to the hub and ends its programs. */
  async leave(): Promise<void> {
    await this.#child.stop()
  }

  async comeBack(): Promise<void> {
    this.#child = await this.#start()
    this.#isDead = false
  }

  async stop(): Promise<void> {
    if (this.#isDead) await this.comeBack()
    await this.#child.stop()
  }
}

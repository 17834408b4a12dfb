import { randomUUID } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { normalRequirements, type Progress } from '@stoker/protocol'
import type { Executor } from '../executors/port.ts'
import type { BuildMeans } from './build-means.ts'
import { type EnvironmentWish, environmentKey, requirementsHash } from './environment-key.ts'
import { addHolder } from './holders.ts'
import { EnvironmentFailed, install } from './install.ts'
import { lockKey } from './key-lock.ts'
import { makeRoom } from './make-room.ts'
import { ownTree } from './own-tree.ts'
import { SharedBuild } from './shared-build.ts'
import { Shelf } from './shelf.ts'
import { keepWheels } from './wheel-store.ts'

export interface EnvironmentStoreOptions {
  readonly folder: string
  readonly limitBytes: number
  readonly executor: Executor
  /** Why nothing can be installed, if that is so. */
  readonly means: () => Promise<BuildMeans | string>
  readonly now: () => number
  /** An environment has come or gone, or could not be made. */
  readonly changed: () => void
}

/** What someone who waits for an environment is told meanwhile. */
export interface BuildWatch {
  readonly signal: AbortSignal
  /** So many bytes of pip's words are in this file. */
  readonly onOutput: (file: string, bytes: number) => void
  readonly onProgress: (progress: Progress) => void
}

/**
 * Environments of this machine. One is made once for all who want it at the same time, also by workers that share the
 * folder; it appears when it is whole. Those who hold one are sure of it as long as their own folder is there.
 */
export class EnvironmentStore {
  readonly shelf: Shelf
  readonly #options: EnvironmentStoreOptions
  readonly #builds = new Map<string, SharedBuild>()
  readonly #failures = new Map<string, string>()

  private constructor(options: EnvironmentStoreOptions) {
    this.#options = options
    this.shelf = new Shelf(options.folder)
  }

  static async open(options: EnvironmentStoreOptions): Promise<EnvironmentStore> {
    const store = new EnvironmentStore(options)
    await store.shelf.open()
    return store
  }

  has(wish: EnvironmentWish): boolean {
    return this.shelf.has(environmentKey(wish))
  }

  /** Why the last try to make it failed, if it was not made since. */
  failureOf(wish: EnvironmentWish): string | null {
    return this.#failures.get(environmentKey(wish)) ?? null
  }

  /** The path of the environment, made first where that is needed; it stays while the folder `holder` is there. */
  async hold(wish: EnvironmentWish, holder: string, watch: BuildWatch): Promise<string> {
    const key = environmentKey(wish)
    for (;;) {
      watch.signal.throwIfAborted()
      if (this.shelf.has(key) && (await this.#take(key, holder, watch.signal))) return this.shelf.pathOf(key)
      const build = this.#buildOf(key, wish)
      await (build.isStopped ? build.ended : build.join(watch))
    }
  }

  #buildOf(key: string, wish: EnvironmentWish): SharedBuild {
    const known = this.#builds.get(key)
    if (known !== undefined) return known
    const folder = join(this.shelf.building, `${key}-${randomUUID().slice(0, 8)}`)
    const build = new SharedBuild(watch => this.#build(key, wish, folder, watch))
    this.#builds.set(key, build)
    void build.ended.finally(() => {
      this.#builds.delete(key)
      this.#options.changed()
    })
    return build
  }

  /** False when another process has just removed it. */
  async #take(key: string, holder: string, signal: AbortSignal): Promise<boolean> {
    const lock = await lockKey(this.shelf.locks, key, { signal })
    try {
      if (!this.shelf.has(key)) return false
      await addHolder(this.shelf.holdersOf(key), holder)
      await this.shelf.touch(key, this.#options.now())
      return true
    } finally {
      await lock.release()
    }
  }

  async #build(key: string, wish: EnvironmentWish, folder: string, watch: BuildWatch): Promise<void> {
    const lock = await lockKey(this.shelf.locks, key, {
      signal: watch.signal,
      onWait: ({ pid }) => watch.onProgress(waiting(pid)),
    })
    try {
      if (this.shelf.has(key)) return
      await this.#removeLeft(key)
      await this.#make(key, wish, folder, watch)
      this.#failures.delete(key)
    } catch (error) {
      if (error instanceof EnvironmentFailed) this.#failures.set(key, error.message)
      throw error
    } finally {
      await removeTree(folder)
      await lock.release()
    }
    await makeRoom(this.shelf, this.#options.limitBytes)
  }

  async #make(key: string, wish: EnvironmentWish, folder: string, watch: BuildWatch): Promise<void> {
    const { executor, means: findMeans, now } = this.#options
    const means = await findMeans()
    if (typeof means === 'string') throw new EnvironmentFailed(means)
    const { wheels } = this.shelf
    const began = now()
    await mkdir(folder, { mode: 0o700 })
    const order = { ...wish, key, folder, wheels, final: this.shelf.pathOf(key) }
    const onOutput = (bytes: number) => watch.onOutput(join(folder, 'stderr'), bytes)
    const packages = await install(order, means, executor, { ...watch, onOutput })
    const made = join(folder, 'work', 'env')
    const bytes = await ownTree(made)
    await keepWheels(join(folder, 'work', 'wheels'), wheels, now())
    await this.shelf.put(made, {
      key,
      requirements: normalRequirements(wish.requirements),
      requirementsHash: requirementsHash(wish.requirements),
      python: wish.python.version,
      packages: [...packages],
      bytes,
      builtAt: new Date(now()).toISOString(),
      seconds: Math.round((now() - began) / 1000),
    })
  }

  /** What processes left that were killed over the same environment; this one has its lock. */
  async #removeLeft(key: string): Promise<void> {
    const names = (await readdir(this.shelf.building)).filter(name => name.includes(key))
    for (const name of names) await removeTree(join(this.shelf.building, name))
  }
}

function waiting(pid: number): Progress {
  const operation = `waiting for process ${pid}, which installs the same packages`
  return { percent: null, operation, metrics: {} }
}

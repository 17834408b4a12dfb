import { chmod, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { freeBytes, safeName, sha256 } from '@stoker/files'
import { downloadContent, guardedSend, type TransferOptions } from '@stoker/net'
import { formatSize, isInnerPath, liesBelow, type Model } from '@stoker/protocol'
import { contentSize } from './content-size.ts'

/** Room that is always left to the rest of the machine. */
const RESERVE_BYTES = 1e9
const PARTIAL = '.partial-'
/** Failures in a row without a byte, about two minutes of them. */
const MAX_AWAY = 12

export interface ModelStoreOptions {
  readonly folder: string
  readonly emptyFolder: string
  /** Folders a model's own path may lie below, besides the store. */
  readonly allowedFolders: readonly string[]
  /** Hosts (with their port) that may be asked although they are on a private network. */
  readonly privateHosts: readonly string[]
  readonly reserveBytes?: number | undefined
  /** Otherwise only models that are here are given. */
  readonly fetches?: boolean | undefined
}

export interface ModelWatch {
  readonly signal: AbortSignal
  readonly onBytes: (here: number, all: number) => void
  readonly bandwidth?: TransferOptions['bandwidth']
}

interface Fetching {
  readonly done: Promise<void>
  readonly listeners: Set<ModelWatch['onBytes']>
}

/** Why a worker cannot give a model that another may have. */
export class ModelAbsent extends Error {}

/**
 * Models of this machine: folders its owner put there, and those that were fetched. One is fetched once, whoever asks;
 * it appears under its name when every file is whole and checked, and parts are continued, also by the next process.
 */
export class ModelStore {
  readonly #options: ModelStoreOptions
  readonly #fetching = new Map<string, Fetching>()

  constructor(options: ModelStoreOptions) {
    this.#options = options
  }

  /** What jobs get that have no model. */
  get emptyFolder(): string {
    return this.#options.emptyFolder
  }

  /** The folder a program finds its model in. */
  async folderOf(model: Model, watch: ModelWatch): Promise<string> {
    const own = await this.#ownFolder(model)
    if (own !== null) return own
    if (model.files.length > 0) return this.#fetched(model, watch)
    if (model.path === null) return this.#options.emptyFolder
    throw new ModelAbsent(`model ${model.name} is expected at ${model.path}, this worker has no such folder`)
  }

  /** A name alone means the folder of that name, if there is one. */
  async #ownFolder({ name, path }: Model): Promise<string | null> {
    const { folder, allowedFolders } = this.#options
    const roots = await Promise.all([folder, ...allowedFolders].map(root => realpath(root).catch(() => root)))
    const wanted = path ?? (isInnerPath(name) ? join(folder, name) : null)
    if (wanted === null) return null
    const found = await realpath(wanted).catch(() => null)
    if (!liesBelow(found ?? wanted, found === null ? [folder, ...allowedFolders] : roots))
      throw new ModelAbsent(
        `model ${name} is at ${found ?? wanted}, this worker gives models below ${[folder, ...allowedFolders].join(', ')} only`,
      )
    return found !== null && (await stat(found)).isDirectory() ? found : null
  }

  async #fetched(model: Model, watch: ModelWatch): Promise<string> {
    const key = keyOf(model)
    const folder = join(this.#options.folder, `${safeName(model.name)}-${key.slice(0, 12)}`)
    for (;;) {
      watch.signal.throwIfAborted()
      if (await isThere(folder)) return folder
      if (this.#options.fetches === false)
        throw new ModelAbsent(
          `model ${model.name} is not on this worker, whose owner lets it fetch none (AUTO_FETCH_MODELS)`,
        )
      const other = this.#fetching.get(key)
      if (other === undefined) await this.#fetchFor(model, key, folder, watch)
      else await joined(other, watch)
    }
  }

  async #fetchFor(model: Model, key: string, folder: string, watch: ModelWatch): Promise<void> {
    const listeners = new Set([watch.onBytes])
    const onBytes = (here: number, all: number) => {
      for (const listener of listeners) listener(here, all)
    }
    const work = this.#fetch(model, key, folder, { ...watch, onBytes })
    const done = work.then(
      () => {},
      () => {},
    )
    this.#fetching.set(key, { done, listeners })
    await work.finally(() => this.#fetching.delete(key))
  }

  async #fetch({ name, files }: Model, key: string, folder: string, watch: ModelWatch): Promise<void> {
    const partial = join(this.#options.folder, `${PARTIAL}${key}`)
    await mkdir(partial, { recursive: true, mode: 0o755 })
    const allowPrivate = (url: URL) => this.#options.privateHosts.includes(url.host)
    const sized: { path: string; sha256: string; size: number; send: ReturnType<typeof guardedSend> }[] = []
    for (const file of files) {
      const send = guardedSend(file.url, { allowPrivate })
      sized.push({ ...file, send, size: file.size ?? (await contentSize(send, file, watch.signal)) })
    }
    const all = sized.reduce((sum, { size }) => sum + size, 0)
    await this.#needRoom(name, all, partial)
    let before = 0
    for (const file of sized) {
      const target = join(partial, file.path)
      await mkdir(dirname(target), { recursive: true, mode: 0o755 })
      const onBytes = (bytes: number) => watch.onBytes(before + bytes, all)
      const { signal, bandwidth } = watch
      await downloadContent(file.send, file, target, { signal, bandwidth, onBytes, maxAway: MAX_AWAY }).catch(cause => {
        signal.throwIfAborted()
        throw new Error(`${file.path} of model ${name} could not be fetched: ${reasonOf(cause)}`, { cause })
      })
      before += file.size
    }
    for (const { path } of files) await chmod(join(partial, path), 0o444)
    await rename(partial, folder)
  }

  /** What an earlier try left is counted: it needs no more room. */
  async #needRoom(name: string, all: number, partial: string): Promise<void> {
    const { reserveBytes = RESERVE_BYTES } = this.#options
    const needed = Math.max(0, all - (await bytesIn(partial)))
    const { freeBytes: free } = await freeBytes(this.#options.folder)
    if (free >= needed + reserveBytes) return
    await rm(partial, { recursive: true, force: true })
    throw new ModelAbsent(
      `model ${name} needs ${formatSize(needed)} and ${formatSize(reserveBytes)} to spare, the worker's disk has ${formatSize(free)} left`,
    )
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function keyOf({ files }: Model): string {
  return sha256(JSON.stringify(files.map(({ path, sha256 }) => [path, sha256]).sort()))
}

async function isThere(folder: string): Promise<boolean> {
  return (await stat(folder).catch(() => null))?.isDirectory() === true
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = entries.filter(entry => entry.isFile()).map(entry => stat(join(entry.parentPath, entry.name)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

/** Resolves when the fetch of another attempt is over, well or not, or this attempt is stopped. */
async function joined({ done, listeners }: Fetching, { signal, onBytes }: ModelWatch): Promise<void> {
  listeners.add(onBytes)
  let stop = () => {}
  const aborted = new Promise<void>(resolve => {
    stop = resolve
    signal.addEventListener('abort', stop, { once: true })
  })
  await Promise.race([done, aborted])
  signal.removeEventListener('abort', stop)
  listeners.delete(onBytes)
}

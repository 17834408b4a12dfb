import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { readJsonOr, removeTree, writeAtomic } from '@stoker/files'
import { EnvironmentFacts } from '@stoker/protocol'
import { countHolders } from './holders.ts'

const FACTS = 'stoker.json'
const KEY = /^[0-9a-f]{20}$/

/** An environment as it lies on the disk, when it was last used and by how many it is used now. */
export interface Shelved extends EnvironmentFacts {
  readonly path: string
  readonly usedAt: number
  readonly holders: number
}

/**
 * The folder of environments, which several workers of a machine may share: `envs/KEY` is there whole or not at all,
 * `holders/KEY` says who uses it, `locks/KEY` whose turn it is, `building` has what is being made, `wheels` what was fetched.
 */
export class Shelf {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  get locks(): string {
    return join(this.folder, 'locks')
  }

  get building(): string {
    return join(this.folder, 'building')
  }

  get wheels(): string {
    return join(this.folder, 'wheels')
  }

  pathOf(key: string): string {
    return join(this.folder, 'envs', key)
  }

  holdersOf(key: string): string {
    return join(this.folder, 'holders', key)
  }

  async open(): Promise<void> {
    for (const folder of [join(this.folder, 'envs'), this.building, this.wheels])
      await mkdir(folder, { recursive: true, mode: 0o755 })
  }

  has(key: string): boolean {
    return existsSync(join(this.pathOf(key), FACTS))
  }

  async touch(key: string, now: number): Promise<void> {
    await utimes(join(this.pathOf(key), FACTS), new Date(now), new Date(now))
  }

  /** Moves a finished environment to its place; its facts make it one. */
  async put(made: string, facts: EnvironmentFacts): Promise<void> {
    await writeAtomic(join(made, FACTS), `${JSON.stringify(facts)}\n`, { mode: 0o644 })
    await rename(made, this.pathOf(facts.key))
  }

  /** Out of sight at once, whatever happens while its files are removed. */
  async remove(key: string): Promise<void> {
    const gone = join(this.building, `gone-${key}-${process.pid}`)
    await rename(this.pathOf(key), gone)
    await removeTree(gone)
    await removeTree(this.holdersOf(key))
  }

  /** Least recently used first. */
  async list(): Promise<Shelved[]> {
    const keys = (await readdir(join(this.folder, 'envs')).catch(() => [])).filter(name => KEY.test(name))
    const found = await Promise.all(keys.map(key => this.#look(key)))
    return found.filter(one => one !== null).sort((a, b) => a.usedAt - b.usedAt)
  }

  async #look(key: string): Promise<Shelved | null> {
    const path = this.pathOf(key)
    const facts = EnvironmentFacts.safeParse(await readJsonOr(join(path, FACTS), null).catch(() => null))
    const { mtimeMs } = (await stat(join(path, FACTS)).catch(() => null)) ?? {}
    if (!facts.success || mtimeMs === undefined) return null
    return { ...facts.data, path, usedAt: mtimeMs, holders: await countHolders(this.holdersOf(key)) }
  }
}

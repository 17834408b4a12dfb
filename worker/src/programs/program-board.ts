import { freeBytes } from '@stoker/files'
import type { Abilities, Hardware, TypeAbility } from '@stoker/protocol'
import type { BuildMeans } from '../environments/build-means.ts'
import type { EnvironmentWish, Python } from '../environments/environment-key.ts'
import type { Programs } from './find-programs.ts'
import { type MachineFacts, typeAbility } from './type-ability.ts'

/** What is announced of packages has an end, however many a machine has. */
const MOST_ENVIRONMENTS = 200

/** The environments of a machine, as far as it is asked what it has. */
export interface InstalledPackages {
  has(wish: EnvironmentWish): boolean
  failureOf(wish: EnvironmentWish): string | null
  readonly shelf: { list(): Promise<readonly { readonly requirementsHash: string }[]> }
}

export interface ProgramBoardOptions {
  readonly programs: Programs
  /** Null where no program can be run. */
  readonly packages: InstalledPackages | null
  readonly python: Python | null
  readonly hardware: Pick<Hardware, 'gpus' | 'memoryBytes'>
  readonly folder: string
  /** What the worker can do apart from this. */
  readonly abilities: () => Abilities
  readonly means: () => Promise<BuildMeans | string>
  readonly changed: () => void
  readonly intervalMs: number
}

interface Announced {
  readonly types: Record<string, TypeAbility>
  readonly environments: string[]
}

/** Which types of programs this worker can run now; looks again when packages have come or gone, and now and then. */
export class ProgramBoard {
  readonly #options: ProgramBoardOptions
  #latest: Announced = { types: {}, environments: [] }
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: ProgramBoardOptions) {
    this.#options = options
  }

  get latest(): Announced {
    return this.#latest
  }

  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look())
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return
    const before = JSON.stringify(this.#latest)
    this.#latest = await this.#find()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.look(), this.#options.intervalMs)
    if (JSON.stringify(this.#latest) !== before) this.#options.changed()
  }

  async #find(): Promise<Announced> {
    const { programs, packages } = this.#options
    const machine = await this.#machine()
    const means = await this.#options.means()
    const noMeans = typeof means === 'string' ? means : null
    const types = [...programs.values()].map(({ type, manifest, requirements }) => {
      const wish = this.#wish(requirements)
      const facts = {
        count: requirements === '' ? 0 : requirements.split('\n').filter(line => !line.startsWith('-')).length,
        isInstalled: wish !== null && packages?.has(wish) === true,
        noMeans,
        failure: wish === null ? null : (packages?.failureOf(wish) ?? null),
      }
      return [type, typeAbility(manifest, machine, facts)] as const
    })
    const installed = (await packages?.shelf.list()) ?? []
    const newest = installed.slice(-MOST_ENVIRONMENTS).map(({ requirementsHash }) => requirementsHash)
    return { types: Object.fromEntries(types), environments: [...new Set(newest)].sort() }
  }

  #wish(requirements: string): EnvironmentWish | null {
    const { python } = this.#options
    return python === null ? null : { requirements, python }
  }

  async #machine(): Promise<MachineFacts> {
    const { hardware, abilities, folder } = this.#options
    const { executors, sandbox, unsandboxed, note } = abilities()
    const runs = executors.includes('process') && (sandbox || unsandboxed)
    return {
      noPrograms: runs ? null : (note ?? 'no sandbox, and nothing is run without one'),
      gpus: hardware.gpus.filter(({ simulated }) => !simulated).length,
      memoryBytes: hardware.memoryBytes,
      freeBytes: (await freeBytes(folder)).freeBytes,
    }
  }
}

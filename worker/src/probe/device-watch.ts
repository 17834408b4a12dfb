import type { DeviceNews } from '@stoker/protocol'
import { deviceFaults } from './device-faults.ts'
import { foreignUse, type OwnUse } from './foreign-use.ts'
import { NVIDIA_SMI } from './nvidia-csv.ts'
import { isAttemptProcess } from './own-process.ts'
import { runTool } from './run-tool.ts'

const TIMEOUT_MS = 15_000
const FORMAT = '--format=csv,noheader,nounits'
const APPS = ['--query-compute-apps=gpu_uuid,pid,used_memory', FORMAT]
const HEALTH = ['--query-gpu=uuid,ecc.errors.uncorrected.volatile.total,retired_pages.pending', FORMAT]

export interface DeviceWatchOptions {
  readonly uuids: readonly string[]
  readonly intervalMs: number
  readonly samples: () => OwnUse['samples']
  readonly inUse: () => OwnUse['inUse']
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly isOurs?: OwnUse['isOurs'] | undefined
}

/** Looks now and then who else uses the devices and whether they are sound; a look that fails changes nothing. */
export class DeviceWatch {
  readonly #options: DeviceWatchOptions
  #latest: readonly DeviceNews[] = []
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: DeviceWatchOptions) {
    this.#options = options
  }

  latest(): readonly DeviceNews[] {
    return this.#latest
  }

  /** Resolves after the first look. */
  start(): Promise<void> {
    this.#looking = this.#look().then(() => {
      if (!this.#isStopped) this.#timer = setTimeout(() => void this.start(), this.#options.intervalMs)
    })
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const { uuids, env, samples, inUse, isOurs = isAttemptProcess } = this.#options
    const ask = (args: readonly string[]) => runTool(NVIDIA_SMI, args, { timeoutMs: TIMEOUT_MS, env })
    const [apps, health] = [await ask(APPS), await ask(HEALTH)]
    if (health.problem?.kind === 'silent' || health.problem?.kind === 'absent') return
    const faults = deviceFaults(`${health.stdout}\n${health.problem?.text ?? ''}`, uuids)
    const foreign =
      apps.problem === null
        ? await foreignUse(apps.stdout, uuids, { isOurs, inUse: inUse(), samples: samples() })
        : null
    this.#latest = uuids.map(uuid => ({
      uuid,
      foreignMb: foreign?.get(uuid) ?? null,
      fault: faults.get(uuid) ?? null,
    }))
  }
}

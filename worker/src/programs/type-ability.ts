import { formatSize, type ProgramManifest, type TypeAbility } from '@stoker/protocol'

const MB = 1_000_000

/** What counts of a machine for the question whether it can run a program. */
export interface MachineFacts {
  /** Why no program runs here at all, if so. */
  readonly noPrograms: string | null
  readonly gpus: number
  readonly memoryBytes: number
  readonly freeBytes: number
}

/** How it stands with the packages of a program. */
export interface PackageFacts {
  readonly count: number
  readonly isInstalled: boolean
  /** Why nothing can be installed, if so. */
  readonly noMeans: string | null
  /** Why the last try failed, if it did. */
  readonly failure: string | null
}

/** Whether a machine has what a program needs: now, after an installation, or never; with the two facts that disagree. */
export function typeAbility({ needs }: ProgramManifest, machine: MachineFacts, packages: PackageFacts): TypeAbility {
  if (machine.noPrograms !== null) return impossible(machine.noPrograms)
  if (needs.gpu === 'required' && machine.gpus === 0) return impossible('needs a GPU, this machine has none')
  if (needs.minMemoryMb * MB > machine.memoryBytes)
    return impossible(`needs ${formatSize(needs.minMemoryMb * MB)} of memory, ${has(machine.memoryBytes)}`)
  if (needs.minDiskMb * MB > machine.freeBytes)
    return impossible(`needs ${formatSize(needs.minDiskMb * MB)} of disk, less is free`)
  if (packages.count === 0 || packages.isInstalled) return { state: 'ready', reason: null }
  if (packages.noMeans !== null) return impossible(packages.noMeans)
  const [why] = (packages.failure ?? '').split('\n')
  if (why !== undefined && why !== '') return { state: 'installable', reason: `the last try failed: ${why}` }
  return { state: 'installable', reason: `${packages.count} packages are installed on first use` }
}

function has(bytes: number): string {
  return `this machine has ${formatSize(bytes)}`
}

function impossible(reason: string): TypeAbility {
  return { state: 'impossible', reason }
}

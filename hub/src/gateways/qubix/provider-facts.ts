import type { Abilities, Foreign, Gpu, Hardware } from '@stoker/protocol'
import { isProgramType, type JobType } from '@stoker/protocol'
import type { WorkerFacts } from '../../engine/state.ts'
import { gpuModelOf, isPlaceholderCpu, isPlaceholderGpu } from './gpu-model.ts'
import type { ProviderNote, Variant } from './provider-note.ts'

export const DIALECT = 'qubix'
/** Three missed heartbeats. */
export const QUIET_MS = 90_000

const GIB = 2 ** 30
const MB = 1_000_000
type Types = Foreign['types']

/** What the worker of each kind does with a job; where it may make results up, only whoever allows that gets them. */
const TYPES: Readonly<Record<Exclude<Variant, 'capable'>, Types>> = {
  simple: { training: 'unverified', inference: 'unverified', 'fine-tuning': 'unverified', compute: 'unverified' },
  enhanced: {
    custom_script: 'verified',
    mnist_training: 'unverified',
    training: 'unverified',
    stable_diffusion: 'unverified',
  },
}

/** Everything the house knows of such a worker is in the note. It has one place: these workers do one thing at a time. */
export function providerFacts(id: string, owner: string, note: ProviderNote): Omit<WorkerFacts, 'secretHash'> {
  const hardware = hardwareOf(id, note)
  return {
    name: note.name ?? `Provider-${note.workerId.slice(0, 8)}`,
    version: note.variant ?? 'unknown',
    owner,
    tags: [DIALECT, ...(note.location === null ? [] : [`location:${note.location}`])],
    maxJobs: 1,
    window: 1,
    // Every machine has one.
    cpusMilli: Math.max(1, hardware.cores) * 1000,
    memoryMb: Math.floor(hardware.memoryBytes / MB),
    hardware,
    abilities: abilitiesOf(note, hardware.gpus.length),
    bootId: note.machine?.hostname ?? '',
    dialect: { name: DIALECT, quietMs: QUIET_MS },
  }
}

function hardwareOf(id: string, { machine, variant, isGpuSeen }: ProviderNote): Hardware {
  const isOld = variant !== 'capable'
  const { gpus = [], cpuModel = null } = machine ?? {}
  const doubted = gpus.find(({ model, vramGb }) => isOld && !isGpuSeen && isPlaceholderGpu(model, vramGb))
  return {
    cpuModel:
      cpuModel === null ? 'unknown' : isOld && isPlaceholderCpu(cpuModel) ? `${cpuModel} (unverified)` : cpuModel,
    cores: Math.floor(machine?.cores ?? 0),
    memoryBytes: bytesOf(machine?.ramGb),
    disk: { freeBytes: bytesOf(machine?.diskFreeGb), totalBytes: bytesOf(machine?.diskGb) },
    hostname: machine?.hostname ?? 'unknown',
    os: machine?.os ?? 'unknown',
    arch: 'unknown',
    pythons: [],
    gpus: gpus.filter(gpu => gpu !== doubted).map(gpu => gpuOf(id, gpu)),
    gpuNote:
      doubted === undefined
        ? null
        : `it names a ${gpuModelOf(doubted.model)} with ${doubted.vramGb} GB, as such workers do when they find no single GPU; it counts once measurements agree`,
  }
}

function gpuOf(id: string, { index, model, vramGb }: { index: number; model: string; vramGb: number }): Gpu {
  const memoryMb = Math.round(vramGb * 1024)
  return { index, uuid: `${id}-gpu-${index}`, name: gpuModelOf(model), memoryMb, driver: null, simulated: false }
}

function bytesOf(gb: number | null | undefined): number {
  return Math.round((gb ?? 0) * GIB)
}

function abilitiesOf(note: ProviderNote, gpus: number): Abilities {
  return {
    executors: ['process'],
    sandbox: false,
    unsandboxed: true,
    internet: true,
    hostNetwork: true,
    note: notesOn(note),
    foreign: {
      dialect: DIALECT,
      types: note.variant === null ? {} : note.variant === 'capable' ? typesOf(note.capabilities) : TYPES[note.variant],
      uses: note.variant === 'capable' ? ['env'] : [],
      maxGpus: note.variant === 'capable' ? gpus : 1,
    },
  }
}

/** One of ours does what it says. */
function typesOf(capabilities: readonly string[]): Types {
  const known = capabilities.filter(type => type === 'custom_script' || isProgramType(type as JobType))
  return Object.fromEntries(known.map(type => [type, 'verified' as const]))
}

function notesOn({ variant, pricePerHour, secondHost, machine }: ProviderNote): string {
  const notes = [
    variant === null ? 'a QUBIX worker that has not shown yet what it can do' : `a QUBIX worker, ${variant}`,
    pricePerHour === null ? '' : `asks ${pricePerHour} an hour`,
    machine === null ? 'never said what its machine has' : '',
    secondHost === null
      ? ''
      : `WARNING: ${secondHost} came under the same id while it had a job; give each machine a token of its own`,
  ]
  return notes.filter(note => note !== '').join('; ')
}

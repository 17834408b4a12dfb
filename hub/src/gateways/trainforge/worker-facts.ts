import type { Abilities } from '@stoker/protocol'
import type { WorkerFacts } from '../../engine/state.ts'
import { arePossiblyInvented } from './invented-gpus.ts'
import type { Registration } from './registration.ts'
import { OFFLINE_MS } from './rules/times.ts'

/** What a job asks for that says nothing of CPUs, in this dialect. */
const ASSUMED_CPUS = 2
/** With a runner script in between, a worker can be told all of this; it never sees secrets, models or ranks. */
const USES = ['args', 'env', 'environment', 'files', 'outputs'] as const

/** What an operator decides about a worker. */
export interface WorkerSettings {
  /** False: it may have made up its GPUs, so it runs jobs without any. */
  readonly trustGpus: boolean
  /** True: it is given jobs although a Docker daemon answers there. */
  readonly allowDocker: boolean
}
export const USUAL_SETTINGS: WorkerSettings = { trustGpus: true, allowDocker: false }

export interface ToldWorker {
  readonly id: string
  readonly owner: string
  readonly told: Registration
  /** Where its calls come from. */
  readonly address: string
  readonly settings: WorkerSettings
  /** What people should know besides. */
  readonly remarks: string
}

/** A worker as the engine sees it: nothing is in here that the worker did not say, and what it cannot do is said. */
export function workerFacts(worker: ToldWorker): Omit<WorkerFacts, 'secretHash'> {
  const { id, owner, told, settings } = worker
  const gpus = settings.trustGpus ? told.gpus : []
  return {
    name: id,
    version: `trainforge ${told.kind}`,
    owner,
    tags: [],
    maxJobs: told.maxJobs,
    window: told.maxJobs,
    cpusMilli: 1000 * (told.cpus ?? ASSUMED_CPUS),
    memoryMb: told.memoryMb,
    hardware: hardwareOf(worker, gpus),
    abilities: abilitiesOf(worker, gpus.length),
    bootId: '',
    dialect: { name: 'trainforge', quietMs: OFFLINE_MS },
  }
}

/** Two nodes on one machine show the same devices; the protocol has no better name for a device. */
export function deviceId({ address, told }: Pick<ToldWorker, 'address' | 'told'>, index: number): string {
  return `trainforge:${address}:${told.hostname}:${index}`
}

function hardwareOf({ told, address }: ToldWorker, gpus: Registration['gpus']): WorkerFacts['hardware'] {
  const simulated = arePossiblyInvented(told.gpus)
  const notes = [
    simulated ? 'exactly the two GPUs that such a node makes up without a driver: possibly simulated' : null,
    told.smallGpus === 0 ? null : `${told.smallGpus} GPUs with less than 4096 MB are never used by such a node`,
    gpus.length < told.gpus.length ? 'the operator does not trust its GPUs (trust_gpus: false)' : null,
  ]
  return {
    cpuModel: '',
    cores: told.cpus ?? 0,
    memoryBytes: told.memoryMb * 1e6,
    disk: { freeBytes: 0, totalBytes: told.diskBytes },
    hostname: told.hostname,
    os: told.platform,
    arch: '',
    pythons: [],
    gpus: gpus.map(({ index, name, memoryMb }) => {
      const uuid = deviceId({ address, told }, index)
      return { index, uuid, name, memoryMb, driver: null, simulated }
    }),
    gpuNote: joined(notes),
  }
}

function abilitiesOf({ told, settings, remarks }: ToldWorker, gpus: number): Abilities {
  const isStuck = told.docker && !settings.allowDocker
  const notes = [
    isStuck
      ? 'a Docker daemon answers there, so such a node starts no job at all: restart it with DOCKER_HOST set to an unusable address'
      : null,
    told.kind === 'adopted' ? 'it was heard but has not registered: one slot, no GPU' : null,
    told.cpus === null ? `it says nothing of CPUs, ${ASSUMED_CPUS} are assumed` : null,
    remarks === '' ? null : remarks,
  ]
  return {
    executors: isStuck ? [] : ['process'],
    sandbox: false,
    unsandboxed: true,
    internet: true,
    hostNetwork: true,
    note: joined(notes),
    foreign: {
      dialect: 'trainforge',
      types: isStuck ? {} : { command: 'verified', custom_script: 'verified' },
      uses: [...USES],
      maxGpus: Math.min(1, gpus),
    },
  }
}

function joined(notes: readonly (string | null)[]): string | null {
  return notes.filter(note => note !== null).join('; ') || null
}

import type { Hardware } from '@stoker/protocol'
import { simulatedGpus } from '../../../worker/src/probe/simulated.ts'
import type { Introduction } from '../../../worker/src/session/session-words.ts'

const CLASSES = 10
const GB = 1e9
/** What every worker says. */
const WINDOW = 1024

/** What a worker of a large fleet says of itself: ten kinds of machines in turn, four marked, simulated GPUs each. */
export function introduce(index: number): Introduction {
  const name = `fleet-${index}`
  const kind = index % CLASSES
  const cpus = 8 + kind
  return {
    version: 'bench',
    workerId: name,
    bootId: `${name}-boot`,
    name,
    tags: [`kind-${kind}`],
    maxJobs: 4,
    cpus,
    memoryBytes: 64 * GB,
    window: WINDOW,
    hardware: hardwareOf(name, cpus),
    abilities: {
      executors: ['inline', 'process'],
      sandbox: true,
      unsandboxed: true,
      internet: true,
      hostNetwork: false,
      note: null,
    },
  }
}

function hardwareOf(name: string, cores: number): Hardware {
  return {
    cpuModel: 'simulated',
    cores,
    memoryBytes: 64 * GB,
    disk: { freeBytes: 500 * GB, totalBytes: 1000 * GB },
    hostname: name,
    os: 'simulated',
    arch: 'x64',
    pythons: [],
    gpus: simulatedGpus('4x24GB').map(gpu => ({ ...gpu, uuid: `${gpu.uuid}-${name}` })),
    gpuNote: '4 simulated GPUs, real ones were not looked for',
  }
}

import type { Hardware } from '@stoker/protocol'
import { chosenGpus } from './chosen-gpus.ts'
import { probeHost } from './host.ts'
import { type NvidiaProbe, probeNvidia } from './nvidia.ts'
import { findPythons } from './python.ts'
import { simulatedGpus } from './simulated.ts'

export { DeviceWatch } from './device-watch.ts'
export { GpuSampler } from './gpu-sampler.ts'
export { HostSampler } from './host-sampler.ts'

/** Simulated GPUs stand alone: beside real ones their indexes and the worker's word for them would mix. */
export async function probeMachine(options: {
  readonly folder: string
  readonly simulateGpus?: string | null | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}): Promise<Hardware> {
  const { folder, simulateGpus, env } = options
  const simulation = simulateGpus == null ? null : simulated(simulateGpus)
  const [host, pythons, { gpus, note }] = await Promise.all([
    probeHost(folder),
    findPythons({ env }),
    simulation ?? probeNvidia({ env }),
  ])
  return { ...host, pythons, gpus: chosenGpus(gpus, env ?? {}), gpuNote: note }
}

function simulated(text: string): NvidiaProbe {
  const gpus = simulatedGpus(text)
  return { gpus, note: `${gpus.length} simulated GPUs, real ones were not looked for` }
}

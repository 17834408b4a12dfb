import type { Gpu, Shape } from '@stoker/protocol'
import type { WorkerFacts, WorkerState } from '../engine/state.ts'

/** Why a worker could never run a shape, even idle; null if it could. Amounts are the two facts that disagree. */
export function misfit(shape: Shape, worker: Pick<WorkerState, 'id' | 'facts'>): string | null {
  const { facts } = worker
  for (const check of CHECKS) {
    const reason = check(shape, facts, worker.id)
    if (reason !== null) return reason
  }
  return null
}

/** How many of the checks fail: the fewer, the closer the worker. */
export function misfits(shape: Shape, worker: Pick<WorkerState, 'id' | 'facts'>): string[] {
  return CHECKS.map(check => check(shape, worker.facts, worker.id)).filter(reason => reason !== null)
}

/** Devices a shape would accept. */
export function suits(shape: Shape, gpu: Gpu): boolean {
  return (
    gpu.memoryMb >= shape.gpuMemoryMb &&
    (shape.gpuModel === null || gpu.name.toLowerCase().includes(shape.gpuModel.toLowerCase()))
  )
}

type Check = (shape: Shape, facts: WorkerFacts, id: string) => string | null

const CHECKS: readonly Check[] = [
  ({ worker }, { name }, id) =>
    worker === null || worker === name || worker === id ? null : `asks for worker ${worker}, this is ${name}`,
  ({ tags }, facts) => {
    const missing = tags.filter(tag => !facts.tags.includes(tag))
    return missing.length === 0
      ? null
      : `needs tag ${missing.join(', ')}, ${facts.name} has ${facts.tags.length === 0 ? 'none' : facts.tags.join(', ')}`
  },
  ({ executor }, { abilities, name }) =>
    abilities.executors.includes(executor)
      ? null
      : `needs to run programs, ${name} runs inline types only${abilities.note === null ? '' : ` (${abilities.note})`}`,
  gpusFit,
  ({ cpusMilli }, facts) =>
    cpusMilli <= facts.cpusMilli ? null : `needs ${cpusMilli / 1000} CPUs, ${facts.name} has ${facts.cpusMilli / 1000}`,
  ({ memoryMb }, facts) =>
    memoryMb <= facts.memoryMb ? null : `needs ${memoryMb} MB of memory, ${facts.name} has ${facts.memoryMb} MB`,
  isolationFits,
]

function gpusFit(shape: Shape, { hardware, name }: WorkerFacts): string | null {
  if (shape.gpus === 0) return null
  const count = hardware.gpus.length
  if (count < shape.gpus) return `needs ${plural(shape.gpus)}, ${name} has ${count}`
  const suiting = hardware.gpus.filter(gpu => suits(shape, gpu)).length
  if (suiting >= shape.gpus) return null
  const wish = [shape.gpuModel, shape.gpuMemoryMb > 0 ? `${shape.gpuMemoryMb} MiB` : null]
    .filter(w => w !== null)
    .join(' with ')
  const has = hardware.gpus.map(gpu => `${gpu.name} with ${gpu.memoryMb} MiB`).join(', ')
  return `needs ${plural(shape.gpus)} (${wish}), ${name} has ${suiting} such: ${has}`
}

function isolationFits({ executor, isolation, network }: Shape, { abilities, name }: WorkerFacts): string | null {
  if (executor === 'inline') return null
  const sandboxServes =
    abilities.sandbox && (network !== 'internet' || abilities.internet) && (network !== 'host' || abilities.hostNetwork)
  const openServes = abilities.unsandboxed && network !== 'none'
  const serves =
    isolation === 'sandbox' ? sandboxServes : isolation === 'none' ? openServes : sandboxServes || openServes
  if (serves) return null
  const wants = `isolation ${isolation}${network === null ? '' : ` with network ${network}`}`
  const offers = [abilities.sandbox ? 'a sandbox' : null, abilities.unsandboxed ? 'no isolation' : null]
    .filter(o => o !== null)
    .join(' or ')
  return `needs ${wants}, ${name} offers ${offers === '' ? 'neither sandbox nor unsandboxed programs' : offers}`
}

function plural(gpus: number): string {
  return gpus === 1 ? '1 GPU' : `${gpus} GPUs`
}

import type { Shape } from '@stoker/protocol'
import type { WorkerState } from '../engine/state.ts'
import { type DeviceSpace, type Devices, hasSpace, isForeign } from './devices.ts'
import { suits } from './fit.ts'
import { type Refusal, type RefusalCode, refusal } from './refusal.ts'

/** What a shape lacks on a worker right now, told by what takes it. */
export function busyRefusals(devices: Devices, shape: Shape, worker: WorkerState): Refusal[] {
  const { facts, slotsFree, cpusMilliFree, memoryMbFree, leased } = worker
  const { name } = facts
  const found: Refusal[] = []
  if (slotsFree < 1) found.push(slotRefusal(worker))
  else if (facts.window - leased < 1)
    found.push(
      refusal('busy.offers', `${name} has not yet taken up ${leased} offers, ${facts.window} at once are allowed`),
    )
  if (cpusMilliFree < shape.cpusMilli)
    found.push(
      refusal('busy.cpus', `needs ${shape.cpusMilli / 1000} CPUs, ${name} has ${cpusMilliFree / 1000} free`, {
        field: 'resources.cpus',
        needs: shape.cpusMilli / 1000,
        has: cpusMilliFree / 1000,
      }),
    )
  if (memoryMbFree < shape.memoryMb)
    found.push(
      refusal('busy.memory', `needs ${shape.memoryMb} MB of memory, ${name} has ${memoryMbFree} MB free`, {
        field: 'resources.memory',
        needs: `${shape.memoryMb}MB`,
        has: `${memoryMbFree}MB`,
      }),
    )
  return shape.gpus === 0 ? found : [...found, ...deviceRefusals(devices, shape, worker)]
}

/** Of a worker without a free slot. */
export function slotRefusal({ facts: { name, maxJobs }, slotsFree }: WorkerState): Refusal {
  return refusal('busy.slots', `${name} runs ${maxJobs - slotsFree} of ${maxJobs} jobs`)
}

/** One refusal for each thing that keeps devices away, once too few are left. */
function deviceRefusals(devices: Devices, shape: Shape, { facts }: WorkerState): Refusal[] {
  const counts = new Map<keyof typeof WORDS, number>()
  let [suiting, free] = [0, 0]
  for (const gpu of facts.hardware.gpus) {
    if (!suits(shape, gpu)) continue
    suiting += 1
    const space = devices.spaceOf(gpu)
    if (hasSpace(space, shape)) free += 1
    else counts.set(whyNot(space, shape), (counts.get(whyNot(space, shape)) ?? 0) + 1)
  }
  if (free >= shape.gpus) return []
  const cure = free === 0 ? null : { field: 'resources.gpus', needs: shape.gpus, has: free }
  const needs = `needs ${shape.gpus} of the ${suiting} GPUs of ${facts.name} that suit it`
  return [...counts].map(([code, count]) =>
    refusal(code, `${needs}, ${free} are free and ${count} ${WORDS[code]}`, cure),
  )
}

function whyNot(space: DeviceSpace, shape: Shape): keyof typeof WORDS {
  if (space.out === 'quarantined') return 'gpus.quarantined'
  if (space.out === 'faulty') return 'gpus.faulty'
  const isOurs = space.whole > 0 || (shape.gpuSharing === 'exclusive' && space.parts > 0)
  if (!isOurs && (shape.gpuSharing === 'exclusive' ? isForeign(space) : space.foreignMb > 0)) return 'gpus.foreign'
  return 'busy.gpus'
}

const WORDS = {
  'gpus.quarantined': 'quarantined',
  'gpus.faulty': 'faulty',
  'gpus.foreign': 'used by programs of others',
  'busy.gpus': 'taken by jobs',
} as const satisfies Partial<Record<RefusalCode, string>>

import type { Gpu, Shape } from '@stoker/protocol'
import { moved } from '../engine/moved.ts'
import type { Claim } from '../engine/state.ts'
import { suits } from './fit.ts'
import type { View } from './policy.ts'

/** Above either of these a device is someone else's: a desktop and a driver's own needs stay below. */
const FOREIGN_SHARE = 0.05
const FOREIGN_MB = 500

/** What is free of one device while a plan is made. */
export interface DeviceSpace {
  readonly memoryMb: number
  readonly foreignMb: number
  readonly out: 'quarantined' | 'faulty' | null
  /** Claims that have it whole: one, or none. */
  whole: number
  /** Claims that have a part of it. */
  parts: number
  partsMb: number
}

/** All devices in one pass; two workers that show one device see the same space of it. */
export class Devices {
  readonly #view: Pick<View, 'devices' | 'quarantined' | 'deviceNews'>
  /** Null until a device is asked for. */
  #spaces: Map<string, DeviceSpace> | null = null

  constructor(view: Pick<View, 'devices' | 'quarantined' | 'deviceNews'>) {
    this.#view = view
  }

  spaceOf(gpu: Gpu): DeviceSpace {
    const known = this.#spaces?.get(gpu.uuid)
    if (known !== undefined) return known
    const { devices, quarantined, deviceNews } = this.#view
    const news = deviceNews.get(gpu.uuid)
    const out = quarantined.has(gpu.uuid) ? 'quarantined' : news?.fault != null ? 'faulty' : null
    const foreignMb = news?.foreignMb ?? 0
    const fresh: DeviceSpace = { memoryMb: gpu.memoryMb, foreignMb, out, whole: 0, parts: 0, partsMb: 0 }
    const claims = devices.get(gpu.uuid)
    if (claims !== undefined) for (const { gpuMemoryMb } of claims.values()) occupy(fresh, gpuMemoryMb, 1)
    this.#spaces ??= new Map()
    this.#spaces.set(gpu.uuid, fresh)
    return fresh
  }

  /** Of the devices this ledger was asked about. */
  move({ gpus, gpuMemoryMb }: Pick<Claim, 'gpus' | 'gpuMemoryMb'>, sign: 1 | -1): void {
    for (const uuid of gpus) {
      const space = this.#spaces?.get(uuid)
      if (space !== undefined) occupy(space, gpuMemoryMb, sign)
    }
  }
}

/** Whether a device has what a shape takes of it, now. */
export function hasSpace(space: DeviceSpace, shape: Shape): boolean {
  if (space.out !== null || space.whole > 0) return false
  if (shape.gpuSharing === 'shared') return space.partsMb + space.foreignMb + shape.gpuMemoryMb <= space.memoryMb
  return space.parts === 0 && !isForeign(space)
}

export function isForeign({ foreignMb, memoryMb }: DeviceSpace): boolean {
  return foreignMb > FOREIGN_MB || (memoryMb > 0 && foreignMb > memoryMb * FOREIGN_SHARE)
}

/** The smallest devices that suit; a part goes where the least is left, so that whole devices stay whole. */
export function chooseDevices(
  gpus: readonly Gpu[],
  shape: Shape,
  devices: Devices,
  allows: ((gpu: Gpu) => boolean) | null,
): readonly Gpu[] | null {
  const found = gpus.filter(
    gpu => suits(shape, gpu) && hasSpace(devices.spaceOf(gpu), shape) && (allows === null || allows(gpu)),
  )
  if (found.length < shape.gpus) return null
  if (found.length > shape.gpus) {
    const left = (gpu: Gpu): number => {
      const space = devices.spaceOf(gpu)
      return shape.gpuSharing === 'shared' ? gpu.memoryMb - space.partsMb - space.foreignMb : gpu.memoryMb
    }
    const isPart = (gpu: Gpu): number => (devices.spaceOf(gpu).parts > 0 ? 0 : 1)
    found.sort((a, b) => isPart(a) - isPart(b) || left(a) - left(b) || a.index - b.index)
  }
  return found.slice(0, shape.gpus)
}

function occupy(space: DeviceSpace, gpuMemoryMb: number | null, sign: 1 | -1): void {
  if (gpuMemoryMb === null) space.whole += sign
  else {
    space.parts += sign
    space.partsMb = moved(space.partsMb, gpuMemoryMb, sign)
  }
}

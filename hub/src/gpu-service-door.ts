import { join } from 'node:path'
import { type Log, readJsonOr, writeAtomic } from '@stoker/files'
import { z } from 'zod'
import { type DialectDoor, openDialect } from './dialect-door.ts'
import type { Now, State } from './engine/state.ts'
import type { GpuServiceContext } from './gateways/gpu-service/context.ts'
import { describedRoutes } from './gateways/gpu-service/described.ts'
import { DeviceNumbers, type RememberedDevices } from './gateways/gpu-service/device-numbers.ts'
import { positionOf } from './scheduler/explain/position.ts'
import { schedulingRules } from './scheduler/rules.ts'
import { below, type DescribedRoute } from './serving/described-route.ts'
import { Doorkeeper, type RateLimits } from './serving/rate-limit.ts'
import { whenAsked } from './when-asked.ts'

/** Where the dialect is on every listener of the hub. */
const NAME = 'gpu'

interface Needed extends Omit<GpuServiceContext, 'devices' | 'door' | 'ahead' | 'unschedulable' | 'failed'> {
  readonly folder: string
  readonly log: Log
  readonly limits: RateLimits
  readonly clock: () => Now
}

export interface GpuServiceDoor extends DialectDoor {
  readonly routes: readonly DescribedRoute[]
}

export async function openGpuService(context: Needed): Promise<GpuServiceDoor> {
  const { folder, log, limits, clock, ...needed } = context
  const { numbers, close } = await DeviceNumbers.open(rememberedIn(folder), context.engine)
  const load = async () => {
    const { createGpuService } = await import('./gateways/gpu-service/gpu-service.ts')
    return createGpuService({
      ...needed,
      devices: numbers,
      door: new Doorkeeper(limits, context.now),
      unschedulable: schedulingRules.unschedulableSpec,
      ahead: (state, job) => aheadOf(state, job, clock()),
      failed: error => log('error', `gpu-service: ${error instanceof Error ? error.stack : String(error)}`),
    })
  }
  const door = openDialect(NAME, whenAsked(load, log), log)
  return {
    ...door,
    routes: below(`/${NAME}`, describedRoutes(context.presets.settings.maxTimeoutMs)),
    close: async () => {
      await door.close()
      await close()
    },
  }
}

function aheadOf(state: State, job: number, now: Now): number | null {
  const bucket = state.buckets.get(state.queued.get(job)?.bucket ?? -1)
  if (bucket === undefined) return null
  const { target } = bucket.shape
  return target === null ? positionOf(state, job, bucket, now).total : olderTasks(state, target, job)
}

/** Queues of sessions are short. */
function olderTasks(state: State, target: string, job: number): number {
  const buckets = [...(state.targets.get(target)?.buckets ?? [])]
  return buckets.flatMap(bucket => [...state.queued.walk(bucket)]).filter(seq => seq < job).length
}

const Devices = z.object({ devices: z.array(z.string()) })

/** A file beside the data: the order in which devices were met. */
function rememberedIn(folder: string): RememberedDevices {
  const file = join(folder, 'gpu-service-devices.json')
  return {
    async read() {
      const parsed = Devices.safeParse(await readJsonOr(file, { devices: [] }))
      if (parsed.success) return parsed.data.devices
      throw new Error(`${file} should hold the numbers of devices, ${parsed.error.issues[0]?.message}`)
    },
    write: devices => writeAtomic(file, `${JSON.stringify({ devices })}\n`, { mode: 0o600 }),
  }
}

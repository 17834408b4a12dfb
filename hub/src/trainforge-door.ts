import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { guardedFetch } from '@stoker/net'
import type { TrainForgeOptions } from './config.ts'
import { type DialectDoor, type DialectService, openDialect } from './dialect-door.ts'
import type { ConsumerContext } from './gateways/trainforge/api/context.ts'
import type { TrainForgeContext } from './gateways/trainforge/context.ts'
import type { Retention } from './retention/settings.ts'
import { schedulingRules } from './scheduler/rules.ts'
import { Doorkeeper, type RateLimits } from './serving/rate-limit.ts'
import { whenAsked } from './when-asked.ts'

/** Where the dialect is on every listener of the hub. */
const NAME = 'trainforge'
const MAX_SCRIPT_BYTES = 16 * 1024 * 1024
const FETCH_MS = 60_000
/** Long enough to look at what an attempt left in its folder. */
const PROJECTS_KEPT_MS = 3600_000

type Given = 'door' | 'newSecret' | 'projects' | 'keepProjectsMs' | 'fetchScript' | 'claimable' | 'isOpen'

type Needed = Omit<TrainForgeContext, Given> &
  Omit<ConsumerContext, Given | 'unschedulable' | 'scratch' | 'failed' | 'workers'> &
  Partial<TrainForgeOptions> & {
    readonly folder: string
    readonly limits: RateLimits
    readonly retention: Retention
  }

export function openTrainForge(needed: Needed): DialectDoor & { readonly open: () => Promise<void> } {
  const service = whenAsked(() => load(needed), needed.log)
  return { ...openDialect(NAME, service, needed.log), open: service.open }
}

async function load(context: Needed): Promise<DialectService> {
  const { createTrainForge } = await import('./gateways/trainforge/trainforge.ts')
  const { folder, limits, retention, filesFolder, isOpen = false, ...needed } = context
  const shared = { ...needed, isOpen, door: new Doorkeeper(limits, () => context.clock().wall) }
  const clients = {
    ...shared,
    unschedulable: schedulingRules.unschedulableSpec,
    scratch: join(folder, 'storage', 'uploads'),
    failed: (error: unknown) => context.log('error', `trainforge: ${error instanceof Error ? error.stack : error}`),
  }
  const gateway = {
    ...shared,
    newSecret: () => randomBytes(24).toString('base64url'),
    projects: [join(folder, 'storage', 'projects'), ...(filesFolder === undefined ? [] : [filesFolder])],
    keepProjectsMs: Math.min(PROJECTS_KEPT_MS, retention.artifactsMs),
    fetchScript: async (url: string) =>
      (await guardedFetch(url, { maxBytes: MAX_SCRIPT_BYTES, timeoutMs: FETCH_MS })).bytes,
    claimable: schedulingRules.claimable,
  }
  return createTrainForge(gateway, clients)
}

import { type DeviceNews, formatSize, type Gpu } from '@stoker/protocol'

/** What a job takes of the machine while it runs. */
export interface Need {
  readonly gpus: number
  readonly cpus: number
  readonly memoryBytes: number
}

export interface Taken extends Need {
  readonly uuids: readonly string[]
}

export interface Machine {
  readonly maxJobs: number
  readonly cpus: number
  readonly memoryBytes: number
  readonly gpus: readonly Gpu[]
}

/** A place, or why there is none; `forever` when waiting cannot help. */
export type Place = { readonly uuids: readonly string[] } | { readonly why: string; readonly forever: boolean }

/** What programs of others may use of a device before it counts as theirs. */
const FOREIGN_SHARE = 0.1

/** The hub of a foreign dialect gives out jobs, not devices: who gets what is decided here, so that nothing is given out twice. */
export function findPlace(
  need: Need,
  taken: readonly Taken[],
  machine: Machine,
  devices: readonly DeviceNews[],
): Place {
  const usable = machine.gpus.filter(gpu => !isOut(gpu, devices))
  const free = usable.filter(gpu => !taken.some(({ uuids }) => uuids.includes(gpu.uuid)))
  const never = (what: string, has: string) => ({ why: `it needs ${what}, this worker has ${has}`, forever: true })
  const later = (what: string, has: string) => ({ why: `it needs ${what}, ${has} free now`, forever: false })
  const cpusFree = machine.cpus - sum(taken, one => one.cpus)
  const memoryFree = machine.memoryBytes - sum(taken, one => one.memoryBytes)
  if (need.gpus > machine.gpus.length) return never(count(need.gpus, 'GPU'), String(machine.gpus.length))
  if (need.cpus > machine.cpus) return never(count(need.cpus, 'CPU'), String(machine.cpus))
  if (need.memoryBytes > machine.memoryBytes)
    return never(formatSize(need.memoryBytes), formatSize(machine.memoryBytes))
  if (taken.length >= machine.maxJobs) return later('a slot', `none of ${machine.maxJobs} is`)
  if (need.gpus > free.length) return later(count(need.gpus, 'GPU'), `${free.length} are`)
  if (need.cpus > cpusFree) return later(count(need.cpus, 'CPU'), `${cpusFree} are`)
  if (need.memoryBytes > memoryFree) return later(formatSize(need.memoryBytes), `${formatSize(memoryFree)} are`)
  return { uuids: free.slice(0, need.gpus).map(gpu => gpu.uuid) }
}

/** Devices that could be given to one more job now. */
export function freeGpus(
  taken: readonly Taken[],
  { gpus }: Pick<Machine, 'gpus'>,
  devices: readonly DeviceNews[],
): readonly Gpu[] {
  return gpus.filter(gpu => !isOut(gpu, devices) && !taken.some(({ uuids }) => uuids.includes(gpu.uuid)))
}

function isOut(gpu: Gpu, devices: readonly DeviceNews[]): boolean {
  const news = devices.find(one => one.uuid === gpu.uuid)
  return news !== undefined && (news.fault !== null || (news.foreignMb ?? 0) > FOREIGN_SHARE * gpu.memoryMb)
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

function sum(taken: readonly Taken[], of: (one: Taken) => number): number {
  return taken.reduce((total, one) => total + of(one), 0)
}

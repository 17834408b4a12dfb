import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What a container or service manager leaves to this process; null where it sets no limit. */
export interface CgroupLimits {
  readonly cpus: number | null
  readonly memoryBytes: number | null
}

/** The tightest limit from this process's group up to the root, version 1 and 2, as the kernel applies it. */
export async function cgroupLimits(root = '/'): Promise<CgroupLimits> {
  const membership = await readText(join(root, 'proc/self/cgroup'))
  const groups = membership.split('\n').flatMap(line => groupsOf(root, line))
  const limits = await Promise.all(groups.map(limitsOf))
  return {
    cpus: smallest(limits.map(limit => limit.cpus)),
    memoryBytes: smallest(limits.map(limit => limit.memoryBytes)),
  }
}

/** A container often sees its host's path while only its own group is mounted, so the mount's top is asked too. */
function groupsOf(root: string, line: string): string[] {
  const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
  if (controllers === undefined || path === undefined) return []
  const base = join(root, 'sys/fs/cgroup')
  const mounts = controllers === '' ? [base, join(base, 'unified')] : [join(base, controllers)]
  return mounts.flatMap(mount => ancestors(path).map(group => join(mount, group)))
}

function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...ancestors(parent)]
}

async function limitsOf(group: string): Promise<CgroupLimits> {
  const read = (name: string) => readText(join(group, name))
  const [max, quota, period, memoryMax, memoryLimit] = await Promise.all(
    ['cpu.max', 'cpu.cfs_quota_us', 'cpu.cfs_period_us', 'memory.max', 'memory.limit_in_bytes'].map(read),
  )
  const [quotaOf2, periodOf2] = (max ?? '').split(' ')
  return {
    cpus: smallest([ratio(quotaOf2, periodOf2), ratio(quota, period)]),
    memoryBytes: smallest([positive(memoryMax), positive(memoryLimit)]),
  }
}

function ratio(quota: string | undefined, period: string | undefined): number | null {
  const [part, whole] = [positive(quota), positive(period)]
  return part === null || whole === null ? null : part / whole
}

/** "max" and -1 mean no limit; version 1 writes no memory limit as a number near 2^63, beyond any machine. */
function positive(text: string | undefined): number | null {
  const value = Number.parseInt(text ?? '', 10)
  return value > 0 && value < 2 ** 60 ? value : null
}

function smallest(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').then(
    text => text.trim(),
    () => '',
  )
}

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { cgroupLimits } from './cgroup-limits.ts'
import { useStandIns } from './test-stand-in.ts'

const standIns = useStandIns()
const GB = 1024 ** 3

/** A file tree as the kernel would show it under /. */
async function limitsIn(files: Record<string, string>) {
  for (const [path, text] of Object.entries(files)) {
    const whole = join(standIns.folder(), path)
    await mkdir(dirname(whole), { recursive: true })
    await writeFile(whole, `${text}\n`)
  }
  return cgroupLimits(standIns.folder())
}

test('version 2: the tightest of a group and its parents counts', async () => {
  const limits = await limitsIn({
    'proc/self/cgroup': '0::/a.slice/b.service',
    'sys/fs/cgroup/a.slice/cpu.max': '150000 100000',
    'sys/fs/cgroup/a.slice/memory.max': 'max',
    'sys/fs/cgroup/a.slice/b.service/cpu.max': 'max 100000',
    'sys/fs/cgroup/a.slice/b.service/memory.max': String(2 * GB),
  })
  expect(limits).toEqual({ cpus: 1.5, memoryBytes: 2 * GB })
})

test('version 1: quota by period and a memory limit count, the huge number means none', async () => {
  const limits = await limitsIn({
    'proc/self/cgroup': '4:memory:/docker/x\n1:cpu,cpuacct:/docker/x',
    'sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us': '400000',
    'sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us': '100000',
    'sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes': '9223372036854771712',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': String(8 * GB),
  })
  expect(limits).toEqual({ cpus: 4, memoryBytes: 8 * GB })
})

test('a container that sees its host path finds its limits at the top of its mount', async () => {
  const limits = await limitsIn({
    'proc/self/cgroup': '0::/docker/unseen',
    'sys/fs/cgroup/cpu.max': '50000 100000',
    'sys/fs/cgroup/memory.max': String(GB),
  })
  expect(limits).toEqual({ cpus: 0.5, memoryBytes: GB })
})

test('no quota, no limit and no cgroup at all mean no limit', async () => {
  expect(await cgroupLimits(standIns.folder())).toEqual({ cpus: null, memoryBytes: null })
  const limits = await limitsIn({
    'proc/self/cgroup': '1:cpu:/\n0::/',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
    'sys/fs/cgroup/unified/cpu.max': 'max 100000',
  })
  expect(limits).toEqual({ cpus: null, memoryBytes: null })
})

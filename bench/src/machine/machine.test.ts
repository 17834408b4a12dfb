import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { parseCpuTicks } from './cpu-ticks.ts'
import { disturbances } from './disturbance.ts'
import { fsyncTime } from './fsync-time.ts'
import { parseProcessTicks, treeTicks } from './own-ticks.ts'
import { workTimeMs } from './work-time.ts'

const aStretch = (name: string, foreignShare: number | null, p50Ms: number, workMs = 10) => ({
  name,
  foreignShare,
  stolenShare: null,
  workMs,
  fsync: { p50Ms, p99Ms: p50Ms * 2 },
})

const NOBODY = -1

describe('the machine', () => {
  it('counts waiting for the disk as idle, and stolen time as busy', () => {
    expect(parseCpuTicks('cpu  10 1 5 100 20 2 2 3 0 0\ncpu0 1 1 1 1\n')).toEqual({ busy: 23, stolen: 3, total: 143 })
    expect(parseCpuTicks('')).toBeNull()
  })

  it('reads the ticks of a process whatever its name holds', () => {
    const stat = '77 (a) b (c) S 42 77 77 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1'
    expect(parseProcessTicks(stat)).toEqual({ parent: 42, ticks: 50 })
    expect(parseProcessTicks('')).toBeNull()
  })

  it('knows the ticks of this process and of what it started', async () => {
    const before = await treeTicks(process.pid, '/no/such/folder')
    const until = performance.now() + 60
    while (performance.now() < until) Math.sqrt(until)
    expect(await treeTicks(process.pid, '/no/such/folder')).toBeGreaterThan(before)
  })

  it('counts what has left the tree, if it names the folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ticks-'))
    const busy = `while [ -e ${folder}/go ]; do :; done`
    const script = `touch ${folder}/go; setsid sh -c '${busy}' ${folder} >/dev/null 2>&1 & echo $!`
    try {
      execFileSync('sh', ['-c', script])
      const before = await treeTicks(NOBODY, folder)
      await vi.waitUntil(async () => (await treeTicks(NOBODY, folder)) > before, 15_000)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('measures work that is always the same', () => {
    expect(workTimeMs()).toBeGreaterThan(0)
  })

  it('measures a sync and leaves no file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fsync-'))
    try {
      const { p50Ms, p99Ms } = await fsyncTime(folder)
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms)
      expect(await readdir(folder)).toEqual([])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('disturbances', () => {
  it('has nothing to say about a quiet machine, or one whose kernel tells nothing', () => {
    expect(disturbances([aStretch('submit', 0.03, 0.2), aStretch('noop', null, 0.3)])).toEqual([])
  })

  it('names the measures during which others worked, and those before which the disk was slow', () => {
    expect(disturbances([aStretch('submit', 0.5, 0.2), aStretch('noop', 0, 4)])).toEqual([
      'others used the processors during submit 50 %',
      'a sync took 0.20 ms at best, but before noop 4.00 ms',
    ])
  })

  it('names the measures around which the processor itself was slow', () => {
    expect(
      disturbances([aStretch('submit', 0, 0.2, 10), aStretch('noop', 0, 0.2, 12.9), aStretch('bulk', 0, 0.2, 18)]),
    ).toEqual(['the same work took the processor 10.0 ms at best, but around bulk 18.0 ms'])
  })
})

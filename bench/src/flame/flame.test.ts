import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { drawProfiles } from './draw-profiles.ts'
import { flameSvg } from './flame-svg.ts'
import { readCpuProfile, readHeapProfile } from './read-profile.ts'

const called = (functionName: string, url = 'file:///hub.js') => ({ functionName, url })

const CPU = JSON.stringify({
  startTime: 0,
  endTime: 2_000_000,
  samples: Array.from({ length: 20 }, () => 1),
  nodes: [
    { id: 1, callFrame: called('(root)', ''), hitCount: 0, children: [2, 3, 4] },
    { id: 2, callFrame: called('(idle)', ''), hitCount: 10 },
    { id: 3, callFrame: called('(garbage collector)', ''), hitCount: 2 },
    { id: 4, callFrame: called('processTimers', 'node:internal/timers'), hitCount: 1, children: [5, 6] },
    { id: 5, callFrame: called('commit'), hitCount: 3 },
    { id: 6, callFrame: called('commit'), hitCount: 3, children: [7] },
    { id: 7, callFrame: called('a<b'), hitCount: 1 },
  ],
})

it('weighs a function with what it called, calls from one place as one, and leaves out what was idle', () => {
  expect(readCpuProfile(CPU)).toEqual({
    total: '1.0 s of processor time',
    frames: [
      {
        name: 'processTimers',
        origin: 'node',
        weight: 8,
        callees: [
          {
            name: 'commit',
            origin: 'bundle',
            weight: 7,
            callees: [{ name: 'a<b', origin: 'bundle', weight: 1, callees: [] }],
          },
        ],
      },
      { name: '(garbage collector)', origin: 'engine', weight: 2, callees: [] },
    ],
  })
})

it('says of memory who made what is held', () => {
  const leaf = { callFrame: called(''), selfSize: 500_000, children: [] }
  const head = { callFrame: called('(root)', ''), selfSize: 7, children: [leaf] }
  expect(readHeapProfile(JSON.stringify({ head }))).toEqual({
    total: '0.5 MB held at the end',
    frames: [{ name: '(anonymous)', origin: 'bundle', weight: 500_000, callees: [] }],
  })
})

it('draws callees above their caller, as wide as their share', () => {
  const svg = flameSvg('hub', readCpuProfile(CPU))
  expect(svg).toContain('<title>hub: 1.0 s of processor time</title>')
  expect(svg).toContain('>hub: 1.0 s of processor time</text>')
  expect(svg).toContain('<title>processTimers 80.0 %</title><rect x="0.0" y="60" width="960.0"')
  expect(svg).toContain('<title>commit 70.0 %</title><rect x="0.0" y="44" width="840.0"')
  expect(svg).toContain('<title>a&lt;b 10.0 %</title><rect x="0.0" y="28" width="120.0"')
  expect(svg).toContain('<title>(garbage collector) 20.0 %</title><rect x="960.0" y="60" width="240.0"')
})

it('leaves out what is too narrow to be seen', () => {
  const thin = { name: 'thin', weight: 1, origin: 'bundle', callees: [] } as const
  const wide = { ...thin, name: 'wide', weight: 9_999 }
  const svg = flameSvg('hub', { frames: [wide, thin], total: 'all' })
  expect(svg).toContain('wide')
  expect(svg).not.toContain('thin')
})

it('draws what a real V8 wrote, one picture for each profile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flame-'))
  try {
    expect(await drawProfiles(join(folder, 'not-yet-there'))).toEqual([])
    const own = join(folder, 'noop', 'hub')
    const busy = 'function spin() { const end = Date.now() + 100; while (Date.now() < end); } spin()'
    const flags = ['--cpu-prof', `--cpu-prof-dir=${own}`, '--heap-prof', `--heap-prof-dir=${own}`]
    await promisify(execFile)(process.execPath, [...flags, '-e', busy])
    const [cpu = '', heap = '', ...more] = await drawProfiles(`${folder}/`)
    expect(more).toEqual([])
    expect(await readFile(cpu, 'utf8')).toMatch(/>noop\/hub \(process \d+, main thread\): \d\.\d s of processor time</)
    expect(await readFile(cpu, 'utf8')).toMatch(/<title>spin \d+\.\d %<\/title>/)
    expect(await readFile(heap, 'utf8')).toMatch(/>noop\/hub \(process \d+, main thread\): \d+\.\d MB held at the end</)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

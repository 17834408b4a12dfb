import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GpuSample } from '@stoker/protocol'
import { afterEach, expect, test } from 'vitest'
import { GpuSampler, type GpuSamplerOptions } from './gpu-sampler.ts'
import { stillRunning, useStandIns } from './test-stand-in.ts'

const standIns = useStandIns()
let sampler: GpuSampler | undefined

afterEach(async () => {
  await sampler?.stop()
  expect(await stillRunning(await startedPids())).toEqual([])
})

/** Waits for samples by count; the script notes each start as a line with its pid. */
async function sampleStandIn(script: string, options: Partial<GpuSamplerOptions> = {}) {
  const log = join(standIns.folder(), 'starts')
  await standIns.write('nvidia-smi', `echo $$ "$@" >> ${log}\nstarts=$(wc -l < ${log})\n${script}`)
  const samples: GpuSample[] = []
  let notice = () => {}
  const onSample = (sample: GpuSample) => {
    samples.push(sample)
    notice()
  }
  sampler = new GpuSampler({ intervalMs: 50, restartDelayMs: () => 1, env: standIns.env(), onSample, ...options })
  const seen = async (count: number): Promise<GpuSample[]> => {
    while (samples.length < count) await new Promise<void>(resolve => (notice = resolve))
    return samples
  }
  return { sampler, seen }
}

async function starts(): Promise<string[]> {
  const text = await readFile(join(standIns.folder(), 'starts'), 'utf8').catch(() => '')
  return text.split('\n').filter(line => line !== '')
}

async function startedPids(): Promise<number[]> {
  return (await starts()).map(line => Number.parseInt(line, 10))
}

const FULL = 'GPU-1, 87, 20311, 24564, 71, 402.55, 450.00'
const POOR = 'GPU-2, [N/A], [N/A], 40960, 34, [Not Supported], [Unknown Error]'

test('one stand-in child is asked once for every field and keeps answering for all GPUs', async () => {
  const { sampler, seen } = await sampleStandIn(`while :; do echo "${FULL}"; echo "${POOR}"; sleep 0.02; done`)
  await seen(10)
  const fields = 'uuid,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit'
  expect((await starts()).map(line => line.replace(/^\d+ /, ''))).toEqual([
    `--query-gpu=${fields} --format=csv,noheader,nounits -lms 50`,
  ])
  expect(sampler.latest()).toEqual([
    { uuid: 'GPU-1', utilization: 87, memoryUsedMb: 20_311, temperatureC: 71, powerW: 402.55, powerLimitW: 450 },
    { uuid: 'GPU-2', utilization: null, memoryUsedMb: null, temperatureC: 34, powerW: null, powerLimitW: null },
  ])
})

test('a stand-in that dies is started again, and the count of failed runs starts over after a sample', async () => {
  const attempts: number[] = []
  const restartDelayMs = (attempt: number) => {
    attempts.push(attempt)
    return 1
  }
  const script = `[ $starts -le 3 ] && exit 1\necho "${FULL}"\n[ $starts -gt 5 ] && exec sleep 1000\nexit 0`
  const { seen } = await sampleStandIn(script, { restartDelayMs })
  await seen(3)
  expect(attempts).toEqual([0, 1, 2, 0, 0])
})

test('a stand-in that falls silent is ended and replaced, never doubled', async () => {
  const { seen } = await sampleStandIn(`echo "${FULL}"\nexec sleep 1000`, { silentAfterMs: 100 })
  await seen(3)
  const pids = await startedPids()
  expect(pids.length).toBeGreaterThanOrEqual(3)
  expect(await stillRunning(pids.slice(0, -1))).toEqual([])
})

test('old samples are not passed off as current', async () => {
  const { sampler, seen } = await sampleStandIn(`[ $starts -eq 1 ] && echo "${FULL}"\nexec sleep 1000`, {
    silentAfterMs: 100,
  })
  await seen(1)
  expect(sampler.latest()).toHaveLength(1)
  await expect.poll(() => sampler.latest()).toEqual([])
})

test('lines that are no sample are passed over', async () => {
  const noise = 'echo "Unable to determine the device handle"; echo; echo ", , ,"; echo "MIG-1, 1, 1, 1, 1, 1, 1"'
  const { seen } = await sampleStandIn(`${noise}\necho "${FULL}"\nexec sleep 1000`)
  expect((await seen(1)).map(sample => sample.uuid)).toEqual(['GPU-1'])
})

test('stop leaves no process, also of a stand-in that ignores signals and has children', async () => {
  const script = `trap '' TERM INT HUP\nsleep 1000 &\necho $! >> $(dirname $0)/starts\necho "${FULL}"\nwait`
  const { sampler, seen } = await sampleStandIn(script)
  await seen(1)
  await sampler.stop()
  const pids = await startedPids()
  expect(pids).toHaveLength(2)
  await expect.poll(() => stillRunning(pids), { timeout: 10_000 }).toEqual([])
  expect(sampler.latest()).toEqual([])
})

test('without nvidia-smi it keeps trying with growing attempts and stops at once', async () => {
  const attempts: number[] = []
  await new Promise<void>(resolve => {
    const restartDelayMs = (attempt: number) => {
      attempts.push(attempt)
      if (attempt === 2) resolve()
      return 1
    }
    sampler = new GpuSampler({ intervalMs: 50, restartDelayMs, env: { PATH: standIns.folder() } })
  })
  await sampler?.stop()
  expect(attempts).toEqual([0, 1, 2])
})

test('stopping before the first child could start waits for nothing', async () => {
  const early = new GpuSampler({ intervalMs: 50, restartDelayMs: () => 1, env: { PATH: standIns.folder() } })
  const before = performance.now()
  await early.stop()
  expect(performance.now() - before).toBeLessThan(1_000)
})

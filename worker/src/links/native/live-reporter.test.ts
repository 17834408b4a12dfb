import type { HostSample, Live } from '@stoker/protocol'
import { expect, it } from 'vitest'
import type { Runner } from '../../run/runner.ts'
import { LiveReporter } from './live-reporter.ts'

const sources = { gpus: () => [], devices: () => [], now: () => 5, spoolBytes: () => 0, everyMs: null }
const runner = { sample: () => Promise.resolve([]) } as unknown as Runner

it('says at once that a session is ready', () => {
  const sent: Live[] = []
  const fence = { job: 1, epoch: 2, attempt: 3 }
  new LiveReporter({ ...sources, host: () => expect.fail() }, runner, live => sent.push(live)).ready(fence)
  expect(sent).toMatchObject([{ t: 'live', at: 5, host: null, attempts: [{ fence, ready: true }] }])
})

it('tells load as often as its owner wants, whatever the hub says', async () => {
  const host = { cpuPercent: 1, memoryUsedBytes: 1, load1: 0, diskFreeBytes: 1 } as unknown as HostSample
  let count = 0
  const reporter = new LiveReporter({ ...sources, host: () => host, everyMs: 1 }, runner, () => {
    count += 1
  })
  reporter.start(1e6)
  await expect.poll(() => count).toBeGreaterThan(2)
  reporter.stop()
})

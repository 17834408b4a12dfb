import type { Live } from '@stoker/protocol'
import { expect, it } from 'vitest'
import type { Runner } from '../../run/runner.ts'
import { LiveReporter } from './live-reporter.ts'

it('says at once that a session is ready', () => {
  const sent: Live[] = []
  const sources = { host: () => expect.fail(), gpus: () => [], devices: () => [], now: () => 5, spoolBytes: () => 0 }
  const runner = { sample: () => Promise.resolve([]) } as unknown as Runner
  const fence = { job: 1, epoch: 2, attempt: 3 }
  new LiveReporter(sources, runner, live => sent.push(live)).ready(fence)
  expect(sent).toMatchObject([{ t: 'live', at: 5, host: null, attempts: [{ fence, ready: true }] }])
})

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { rateOfJobs } from '../jobs-done.ts'
import type { Hub } from '../servers/stoker.ts'
import { quantile } from '../statistics.ts'
import { waitUntil } from '../wait-until.ts'
import type { Measure, Stage } from './ground.ts'

const PROBE = new URL('../machine/loop-probe.mjs', import.meta.url)
/** So many that what every start needs is compiled, as it is in a worker of some minutes. */
const WARM_UP = 2_000
const STARTS = 500
const ROUNDS = 3
const EVERY_MS = 20
const LARGE_MB = 1000
const TRUE = { command: ['/bin/true'], isolation: 'none' as const, resources: { cpus: 0 } }

/**
 * Programs are started one by one; for each, the longest the worker's event loop let anybody wait meanwhile. Beside it the same
 * for stretches in which nothing starts: that much is the machine's own.
 */
export const measureStartStall: Measure = async stage => ({
  startStall: await stalls(stage, 0),
  startStallLarge: await stalls(stage, LARGE_MB),
})

/** The product knows nothing of the probe, and nothing of the memory that it holds in the worker's process. */
async function stalls(stage: Stage, megabytes: number) {
  const hub = await stage.hub()
  const file = stage.folder('probe')
  const probe = `${PROBE}?${new URLSearchParams({ file, megabytes: String(megabytes) })}`
  const worker = await stage.worker(hub, 4, { nodeArgs: ['--import', probe] })
  await rateOfJobs(hub.client, TRUE, WARM_UP)
  await inTurns(() => start(hub))
  const ours: number[] = []
  const idle: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await p99Of(file, () => start(hub)))
    await waitUntil('the programs to end', async () => (await hub.client.counts()).active === 0)
    idle.push(await p99Of(file, async () => {}))
  }
  await worker.stop()
  await hub.stop()
  return { ours, peers: { 'when idle': idle } }
}

async function start({ client }: Hub): Promise<void> {
  await client.submit(TRUE)
}

async function p99Of(file: string, act: () => Promise<void>): Promise<number> {
  const at = await inTurns(act)
  const last = at.at(-1) ?? 0
  await waitUntil('the probe to write', async () => ((await samplesIn(file)).at(-1)?.[0] ?? 0) > last)
  return quantile(longestWaits(at, await samplesIn(file)), 0.99)
}

/** When each turn began, in ms since 1970. */
async function inTurns(act: () => Promise<void>): Promise<number[]> {
  const at: number[] = []
  for (let i = 0; i < STARTS; i += 1) {
    at.push(performance.timeOrigin + performance.now())
    await act()
    await sleep(EVERY_MS)
  }
  return at
}

type Sample = readonly [at: number, ms: number]

async function samplesIn(file: string): Promise<Sample[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
  return lines.map(line => line.split(' ').map(Number) as unknown as Sample)
}

/** Of the samples between each start and the next, the longest. */
export function longestWaits(starts: readonly number[], samples: readonly Sample[]): number[] {
  return starts.flatMap((from, i) => {
    const to = starts[i + 1] ?? from + EVERY_MS
    const during = samples.filter(([at]) => at >= from && at < to).map(([, ms]) => ms)
    return during.length === 0 ? [] : [Math.max(...during)]
  })
}

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { loopDelayMs } from '../hub-figure.ts'
import { Relay } from '../servers/relay.ts'
import type { Hub } from '../servers/stoker.ts'
import { emptyGauge, type Gauged, look } from '../soak/gauge.ts'
import { applyLoad } from '../soak/soak-load.ts'
import { growthOfMeansPercent, growthPercent, lowest } from '../soak/trend.ts'
import { cutAgainAndAgain, killAgainAndAgain } from '../soak/troubles.ts'
import { waitUntil } from '../wait-until.ts'
import type { Ground, Measure, Stage } from './ground.ts'

const run = promisify(execFile)
const LOOK_MS = 5_000
const LOOKS_A_MINUTE = 60_000 / LOOK_MS
const MAX_JOBS = 6
/** Below these, growth is no matter: a worker has a few megabytes of data, and one job more or less shows. */
const LEAST = { memoryMb: 0, handles: 0, dataMb: 50 }
/** The output of a flood is in a worker's folder until the hub has it, 20 MB for a few seconds: what stays is the least of some looks. */
const AMONG = { memoryMb: 1, handles: 1, dataMb: 3 }
/** Short enough that what is kept stops growing long before half of the time is over. */
const RETENTION = ['jobs', 'logs', 'artifacts', 'unused-uploads', 'journal'].flatMap(kept => [`--keep-${kept}`, '90s'])

/** Mixed work for a long time, one worker dying and one cut off again and again: nothing may grow, nothing may be lost. */
export const measureSoak: Measure = async (stage, ground) => {
  const { hub, workers, relay } = await open(stage)
  const [steady, mortal, distant] = workers
  const over = new AbortController()
  const { signal } = over
  const hasSandbox = (await hub.client.worker('steady')).abilities?.sandbox === true
  const working = Promise.all([
    applyLoad({ client: hub.client, hasSandbox, signal }),
    killAgainAndAgain(mortal, signal),
    cutAgainAndAgain(relay, signal),
  ])
  working.catch(() => over.abort())
  const startedAt = performance.now()
  const gauges = { hub: emptyGauge(), steady: emptyGauge(), distant: emptyGauge() }
  const loopMs: number[] = []
  for (let looks = 1; looks <= ground.soakMinutes * LOOKS_A_MINUTE && !signal.aborted; looks += 1) {
    await sleep(LOOK_MS)
    await look(gauges.hub, hub.pid(), hub.folder)
    await look(gauges.steady, steady.pid, steady.folder)
    await look(gauges.distant, distant.pid, distant.folder)
    if (looks % LOOKS_A_MINUTE === 0) loopMs.push(await loopDelayMs(hub.client))
  }
  over.abort()
  const [accepted] = await working
  await allOver(hub)
  const seconds = (performance.now() - startedAt) / 1000
  for (const worker of workers) await worker.stop()
  await hub.stop()
  await verify(ground, hub.folder)
  const growth = (of: keyof Gauged, ...gauged: Gauged[]) => ({
    ours: gauged.map(each => growthPercent(lowest(each[of], AMONG[of]), LEAST[of])),
    peers: {},
  })
  return {
    soakHubMemory: growth('memoryMb', gauges.hub),
    soakHubHandles: growth('handles', gauges.hub),
    // Output comes in floods and is swept in turn: within half a minute it goes up and down by a third.
    soakHubData: { ours: [growthOfMeansPercent(gauges.hub.dataMb, LEAST.dataMb)], peers: {} },
    soakWorkerMemory: growth('memoryMb', gauges.steady, gauges.distant),
    soakWorkerHandles: growth('handles', gauges.steady, gauges.distant),
    soakWorkerData: growth('dataMb', gauges.steady, gauges.distant),
    soakLoop: { ours: loopMs, peers: {} },
    soakJobs: { ours: [accepted / seconds], peers: {} },
  }
}

async function open(stage: Stage) {
  const hub = await stage.hub(RETENTION)
  const relay = await Relay.open(hub.url)
  stage.atEnd(() => relay.close())
  const worker = (name: string, dials?: string) => stage.mortalWorker(hub, { maxJobs: MAX_JOBS, name, dials })
  const workers = [await worker('steady'), await worker('mortal'), await worker('distant', relay.url)] as const
  return { hub, relay, workers }
}

function allOver({ client }: Hub): Promise<void> {
  return waitUntil(
    'every job to have ended',
    async () => {
      const { queued, waiting, active } = await client.counts()
      return queued + waiting + active === 0
    },
    { everyMs: 200, withinMs: 120_000 },
  )
}

/** What the product itself says about its data; a problem fails the bench. */
async function verify({ bundles }: Ground, folder: string): Promise<void> {
  await run(process.execPath, [join(bundles.distFolder, 'hub.js'), 'verify', '--data', folder])
}

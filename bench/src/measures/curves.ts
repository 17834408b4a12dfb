import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fillBacklog } from '../backlog.ts'
import { writePng } from '../chart/picture.ts'
import { type Curves, queuedPanels, workerPanels } from '../curves/draw.ts'
import { allConnected, ELSEWHERE, lookAt, type Point } from '../curves/look-at.ts'
import { planMsSimulated } from '../curves/plan-simulated.ts'
import { startFleet } from '../fleet/start-fleet.ts'
import { findProgram } from '../processes/find-program.ts'
import type { Measure, Stage } from './ground.ts'

const QUEUED = [1_000, 10_000, 100_000, 1_000_000]
const WORKERS = [1, 10, 100, 1_000]
const SIMULATED = [1, 10, 100, 1_000, 10_000]
/** Beside the workers, so that every pass has something to pass over. */
const QUEUED_BESIDE = 10_000

const inRepository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** How costs grow with the backlog and with the fleet; no goals, but pictures. */
export const measureCurves: Measure = async (stage, { path, say }) => {
  const curves: Curves = {
    at: new Date().toISOString(),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), load ${(loadavg()[0] ?? 0).toFixed(1)} before`,
    queued: await overQueued(stage),
    workers: await overWorkers(stage),
    simulated: SIMULATED.map(workers => ({ workers, planMs: planMsSimulated(workers) })),
  }
  const file = inRepository('bench/results/curves.json')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(curves, null, 2)}\n`)
  const browser = findProgram('chromium', path)
  if (browser === null) {
    say(`curves: the pictures are drawn by chromium, which is not installed; their figures are in ${file}`)
    return {}
  }
  const foot = `${curves.at.slice(0, 10)}, ${curves.machine}. npm run bench -- --only curves`
  await writePng(browser, queuedPanels(curves), foot, inRepository('docs/curves-queued.png'))
  await writePng(browser, workerPanels(curves), foot, inRepository('docs/curves-workers.png'))
  return {}
}

async function overQueued(stage: Stage): Promise<Point[]> {
  const hub = await stage.hub()
  await stage.worker(hub, 8)
  const points: Point[] = []
  for (const queued of QUEUED) {
    await fillBacklog(hub, queued - (await hub.client.counts()).queued, ELSEWHERE)
    points.push(await lookAt(hub, queued, 1))
  }
  await hub.stop()
  return points
}

async function overWorkers(stage: Stage): Promise<Point[]> {
  const hub = await stage.hub()
  await fillBacklog(hub, QUEUED_BESIDE, ELSEWHERE)
  const points: Point[] = []
  let connected = 0
  for (const workers of WORKERS) {
    await stage.keep(startFleet(hub, workers - connected, connected))
    connected = workers
    await allConnected(hub, workers)
    points.push(await lookAt(hub, workers, workers))
  }
  return points
}

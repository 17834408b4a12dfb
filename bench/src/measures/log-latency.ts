import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../processes/child.ts'
import { stampedJob, stampsIn } from '../processes/stamped-program.ts'
import { race } from '../rounds.ts'
import type { Bundles, Hub } from '../servers/stoker.ts'
import { quantile } from '../statistics.ts'
import { fineWallClock } from '../wall-clock.ts'
import type { Measure } from './ground.ts'

const LINES = 200
/** Every viewer is there before the first line. */
const AFTER_MS = 2000
/** The fraction spreads the lines over the timers of everybody on the way. */
const EVERY_MS = 11.3
const JOB = { afterMs: AFTER_MS, lines: LINES, everyMs: EVERY_MS }

/** From the moment a program writes a line until a viewer of its job has it, by the event stream and by the command line. */
export const measureLogLatency: Measure = async (stage, { bundles }) => {
  const hub = await stage.hub()
  await stage.worker(hub, 4)
  const waits = { sse: { p50: [] as number[], p99: [] as number[] }, cli: { p50: [] as number[], p99: [] as number[] } }
  const round = (of: keyof typeof waits, follow: () => Promise<number[]>) => async () => {
    const found = await follow()
    if (found.length < LINES) throw new Error(`a viewer should see ${LINES} lines, it saw ${found.length}`)
    waits[of].p50.push(quantile(found, 0.5))
    waits[of].p99.push(quantile(found, 0.99))
    return 0
  }
  const contestants = [
    { name: 'sse', run: round('sse', () => viewerWaits(hub)) },
    ...(hasCli(bundles) ? [{ name: 'cli', run: round('cli', () => cliWaits(hub, bundles)) }] : []),
  ]
  await race(contestants, { rounds: 5, budgetMs: 30_000, warmUpMs: 0 })
  const cli = (rounds: readonly number[]) =>
    hasCli(bundles) ? rounds : { notMeasured: 'the bundles have no stoker.js' }
  return {
    lineToViewerP50: { ours: waits.sse.p50, peers: {} },
    lineToViewerP99: { ours: waits.sse.p99, peers: {} },
    lineToCliP50: { ours: cli(waits.cli.p50), peers: {} },
    lineToCliP99: { ours: cli(waits.cli.p99), peers: {} },
  }
}

async function viewerWaits({ client }: Hub): Promise<number[]> {
  const now = fineWallClock()
  const { id } = await client.submit(stampedJob(JOB))
  const waits: number[] = []
  for await (const event of client.events(id)) {
    const at = now()
    if (event.event === 'logs') waits.push(...stampsIn(JSON.stringify(event.data)).map(stamp => at - stamp))
  }
  return waits
}

function hasCli({ distFolder }: Bundles): boolean {
  return existsSync(join(distFolder, 'stoker.js'))
}

async function cliWaits({ client, url, token }: Hub, { distFolder }: Bundles): Promise<number[]> {
  const now = fineWallClock()
  const { id } = await client.submit(stampedJob(JOB))
  const waits: number[] = []
  const cli = await startChild({
    name: 'stoker logs',
    command: process.execPath,
    args: [join(distFolder, 'stoker.js'), 'logs', '--follow', id],
    env: { STOKER_URL: url, STOKER_TOKEN: token },
    ready: /stamp/,
    onLine: line => waits.push(...stampsIn(line).map(stamp => now() - stamp)),
  })
  await cli.ended
  return waits
}

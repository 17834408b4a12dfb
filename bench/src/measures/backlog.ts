import { setTimeout as sleep } from 'node:timers/promises'
import { backlogSpec, fillBacklog } from '../backlog.ts'
import type { Findings } from '../goals/goals.ts'
import { histogramOf, quantileBetween } from '../hub-figures.ts'
import { rateOf } from '../in-flight.ts'
import { PlainHttp } from '../plain-http.ts'
import { memoryMbOf } from '../processes/memory-of.ts'
import { race } from '../rounds.ts'
import type { Hub } from '../servers/stoker.ts'
import { quantile } from '../statistics.ts'
import type { Measure } from './ground.ts'

const QUEUED = 1_000_000
const SUBMITS = 200
const EXPLAINED = 20
const PLAN_MS = 2_000
const SETTLE_MS = 2_000
const ROUNDS = 5
const RESTARTS = 3
/** Short enough that many end in every moment, long enough that the backlog lasts. */
const RUN_MS = 50
const SLOTS = 20

/** A hub with a million queued jobs: what a submit, a plan, an answer and a restart cost beside an empty one. */
export const measureBacklog: Measure = async stage => {
  const hub = await stage.hub()
  const ids = await fillBacklog(hub, QUEUED, { input: { runMs: RUN_MS } })
  await sleep(SETTLE_MS)
  const memory = await rounds(3, () => memoryMbOf(hub.pid()))
  const submits = await submitsBeside(await stage.hub(), hub)
  await stage.worker(hub, SLOTS)
  return {
    ...submits,
    backlogMemory: { ours: memory, peers: {} },
    backlogPlan: { ours: await rounds(ROUNDS, () => planMs(hub)), peers: {} },
    backlogExplain: { ours: await rounds(ROUNDS, round => explainMs(hub, pickedFrom(ids, round))), peers: {} },
    ...(await restarts(hub, ids.at(-1) ?? '')),
  }
}

async function submitsBeside(empty: Hub, full: Hub): Promise<Findings> {
  const ackOf = ({ url, token }: Hub) => {
    const http = new PlainHttp(url, token)
    return { http, run: async () => 1000 / (await rateOf(SUBMITS, 1, i => http.submit(backlogSpec(i)))) }
  }
  const [ours, peer] = [ackOf(full), ackOf(empty)]
  const figures = await race(
    [
      { name: 'ours', run: ours.run },
      { name: 'an empty hub', run: peer.run },
    ],
    { rounds: 9, budgetMs: 10_000 },
  )
  ours.http.close()
  peer.http.close()
  return {
    backlogSubmit: {
      ours: figures.get('ours') ?? [],
      peers: { 'an empty hub': figures.get('an empty hub') ?? [] },
    },
  }
}

/** A worker takes from the backlog as fast as it can meanwhile, so that every pass places something. */
async function planMs(hub: Hub): Promise<number> {
  const before = await histogramOf(hub, 'stoker_plan_seconds')
  await sleep(PLAN_MS)
  return 1000 * quantileBetween(before, await histogramOf(hub, 'stoker_plan_seconds'), 0.99)
}

async function explainMs(hub: Hub, ids: readonly string[]): Promise<number> {
  const times: number[] = []
  for (const id of ids) {
    const startedAt = performance.now()
    const { position } = await hub.client.explain(id)
    times.push(performance.now() - startedAt)
    if (position === null) throw new Error(`job ${id} should wait, the hub says it does not`)
  }
  return quantile(times, 0.9)
}

/** Loaded is a hub that can explain the newest job: it is in memory, behind all others. */
async function restarts(hub: Hub, newest: string): Promise<Findings> {
  const open: number[] = []
  const loaded = await rounds(RESTARTS, async () => {
    const { restartedAt } = await hub.killAndRestart()
    open.push((performance.now() - restartedAt) / 1000)
    const { position } = await hub.client.explain(newest)
    if (position === null || position.ahead < QUEUED / 2)
      throw new Error(`the backlog should be ahead of job ${newest}, the hub says ${position?.ahead ?? 'nothing'}`)
    return (performance.now() - restartedAt) / 1000
  })
  return { backlogOpen: { ours: open, peers: {} }, backlogLoaded: { ours: loaded, peers: {} } }
}

/** From the younger half: the older is taken by the worker meanwhile. */
function pickedFrom(ids: readonly string[], round: number): readonly string[] {
  const younger = ids.slice(ids.length / 2)
  return Array.from({ length: EXPLAINED }, (_, i) => younger[(i * ROUNDS + round) % younger.length] ?? '')
}

async function rounds(times: number, run: (round: number) => Promise<number>): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < times; round += 1) found.push(await run(round))
  return found
}

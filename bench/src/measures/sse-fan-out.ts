import { setTimeout as sleep } from 'node:timers/promises'
import { type SsePeer, startSsePeer } from '../peers/sse.ts'
import { cpuMsOf } from '../processes/cpu-of.ts'
import { memoryMbOf } from '../processes/memory-of.ts'
import { stampedJob } from '../processes/stamped-program.ts'
import { race } from '../rounds.ts'
import type { Hub } from '../servers/stoker.ts'
import { SseViewers } from '../sse-viewers.ts'
import { quantile } from '../statistics.ts'
import { waitUntil } from '../wait-until.ts'
import { fineWallClock } from '../wall-clock.ts'
import type { Measure } from './ground.ts'

/** As many as one owner may have. */
const VIEWERS = 1000
const LINES = 10
const EVERY_MS = 300

interface Round {
  readonly p50: number
  readonly last: number
  readonly memoryMb: number
  readonly cpuMs: number
}

/** One program, a thousand who watch it; beside a server that only copies. */
export const measureFanOut: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 4)
  const peer = await startSsePeer()
  stage.atEnd(peer.stop)
  const rounds = { ours: [] as Round[], peer: [] as Round[] }
  const run = (of: keyof typeof rounds, round: () => Promise<Round>) => async () => {
    rounds[of].push(await round())
    return 0
  }
  await race(
    [
      { name: 'ours', run: run('ours', () => ourRound(hub)) },
      { name: 'bare SSE', run: run('peer', () => peerRound(peer)) },
    ],
    { rounds: 5, budgetMs: 60_000, warmUpMs: 0 },
  )
  const found = (of: 'p50' | 'last') => ({
    ours: rounds.ours.map(round => round[of]),
    peers: { 'bare SSE': rounds.peer.map(round => round[of]) },
  })
  return {
    fanOutP50: found('p50'),
    fanOutLast: found('last'),
    fanOutMemory: { ours: rounds.ours.map(({ memoryMb }) => memoryMb), peers: {} },
    fanOutCpu: { ours: rounds.ours.map(({ cpuMs }) => cpuMs), peers: {} },
  }
}

/** The first of the lines waits until all viewers are there. */
async function ourRound(hub: Hub): Promise<Round> {
  const { id } = await hub.client.submit(stampedJob({ afterMs: 5_000, lines: LINES, everyMs: EVERY_MS }))
  const headers = { authorization: `Bearer ${hub.token}` }
  const viewers = await SseViewers.open(VIEWERS, `${hub.url}/api/v1/jobs/${id}/events`, headers)
  const before = await cpuMsOf(hub.pid())
  await waitUntil('all lines at all viewers', async () => viewers.linesOf(VIEWERS).length === LINES, { everyMs: 50 })
  return roundOf(viewers, hub.pid(), before)
}

async function peerRound(peer: SsePeer): Promise<Round> {
  const now = fineWallClock()
  const viewers = await SseViewers.open(VIEWERS, peer.url)
  const before = await cpuMsOf(peer.pid)
  for (let i = 0; i < LINES; i += 1) {
    await peer.say(`stamp ${now().toFixed(3)}`)
    await sleep(EVERY_MS)
  }
  await waitUntil('all lines at all viewers', async () => viewers.linesOf(VIEWERS).length === LINES, { everyMs: 50 })
  return roundOf(viewers, peer.pid, before)
}

async function roundOf(viewers: SseViewers, pid: number, cpuMsBefore: number): Promise<Round> {
  const lines = viewers.linesOf(VIEWERS)
  const memoryMb = await memoryMbOf(pid)
  const cpuMs = ((await cpuMsOf(pid)) - cpuMsBefore) / LINES
  viewers.close()
  const p50 = quantile(
    lines.map(waits => quantile(waits, 0.5)),
    0.5,
  )
  const last = quantile(
    lines.map(waits => quantile(waits, 1)),
    0.5,
  )
  return { p50, last, memoryMb, cpuMs }
}

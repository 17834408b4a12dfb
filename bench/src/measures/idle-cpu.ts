import { setTimeout as sleep } from 'node:timers/promises'
import { cpuPercentOf } from '../processes/cpu-of.ts'
import type { Measure } from './ground.ts'

/** What the start left to be compiled and collected is over. */
const SETTLE_MS = 5_000
const ROUNDS = 3
const ROUND_MS = 20_000

/** A hub and a worker that know each other and have nothing to do. */
export const measureIdleCpu: Measure = async stage => {
  const hub = await stage.hub()
  const worker = await stage.worker(hub, 4)
  await sleep(SETTLE_MS)
  const ofHub: number[] = []
  const ofWorker: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const [hubPercent, workerPercent] = await Promise.all([
      cpuPercentOf(hub.pid(), ROUND_MS),
      cpuPercentOf(worker.pid, ROUND_MS),
    ])
    ofHub.push(hubPercent)
    ofWorker.push(workerPercent)
  }
  return { idleHubCpu: { ours: ofHub, peers: {} }, idleWorkerCpu: { ours: ofWorker, peers: {} } }
}

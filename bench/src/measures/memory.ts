import { setTimeout as sleep } from 'node:timers/promises'
import { memoryMbOf } from '../processes/memory-of.ts'
import type { Measure } from './ground.ts'

const SETTLE_MS = 2_000
const SAMPLES = 3
/** What a worker takes on a machine of two cores when nobody says otherwise. */
const MAX_JOBS = 4

/** A hub and its worker that have just met and have nothing to do. */
export const measureMemory: Measure = async stage => {
  const hub = await stage.hub()
  const worker = await stage.worker(hub, MAX_JOBS)
  await sleep(SETTLE_MS)
  const samples = Array.from({ length: SAMPLES }, (_, i) => i)
  const ofHub: number[] = []
  const ofWorker: number[] = []
  for (const _ of samples) {
    ofHub.push(await memoryMbOf(hub.pid()))
    ofWorker.push(await memoryMbOf(worker.pid))
    await sleep(SETTLE_MS / SAMPLES)
  }
  return { hubMemory: { ours: ofHub, peers: {} }, workerMemory: { ours: ofWorker, peers: {} } }
}

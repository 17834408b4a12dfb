import { setTimeout as sleep } from 'node:timers/promises'
import { startFleet } from '../fleet/start-fleet.ts'
import { cpuPercentOf } from '../processes/cpu-of.ts'
import { memoryMbOf } from '../processes/memory-of.ts'
import type { Measure } from './ground.ts'

const WORKERS = 1000
/** The joins are over and the figures of all have come once. */
const SETTLE_MS = 10_000
const ROUNDS = 3
/** Each worker tells its load once in this time. */
const ROUND_MS = 10_000

/** A thousand workers on real sockets that have nothing to do but to be alive. */
export const measureIdleWorkers: Measure = async stage => {
  const hub = await stage.hub()
  await stage.keep(startFleet(hub, WORKERS))
  await sleep(SETTLE_MS)
  const cpu: number[] = []
  const memory: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    cpu.push(await cpuPercentOf(hub.pid(), ROUND_MS))
    memory.push(await memoryMbOf(hub.pid()))
  }
  const { workers } = await hub.client.health()
  if (workers.connected !== WORKERS)
    throw new Error(`${WORKERS} workers should be connected, the hub counts ${workers.connected}`)
  return { idleWorkersCpu: { ours: cpu, peers: {} }, idleWorkersMemory: { ours: memory, peers: {} } }
}

import type { Now, State } from '../engine/state.ts'
import { Devices } from './devices.ts'
import { neverRefusals } from './fit.ts'
import { refusalsNow } from './refusals-now.ts'
import { Room } from './room.ts'

/** Whether a worker may have the queued job it chose by itself: every filter holds, only its place in the queue does not count. */
export function claimable(
  state: State,
  job: number,
  workerId: string,
  now: Now,
): { readonly gpus: readonly string[] } | { readonly refused: string } {
  const bucket = state.buckets.get(state.queued.get(job)?.bucket ?? -1)
  const known = state.workers.get(workerId)
  if (bucket === undefined || known === undefined) return { refused: `job ${job} is not queued` }
  const worker = { ...known, connected: true, heardAt: now.lease, asks: Math.max(1, known.asks) }
  const [first] = [...neverRefusals(bucket.shape, worker), ...refusalsNow(state, bucket, now)(worker)]
  if (first !== undefined) return { refused: first.text }
  const gpus = new Room(worker, new Devices(state)).choose(bucket.shape, null)
  return gpus === null ? { refused: `${worker.facts.name} has no room for it now` } : { gpus }
}

import type { ActiveJob, Claim, Now, WorkerState } from '../engine/state.ts'
import type { View } from './policy.ts'

/** A program is stopped some time after its deadline, and its start takes a moment too. */
export const MARGIN_MS = 30_000

/** Everything that takes something of a worker: its attempts, lost ones too, and those of others on its devices. */
export function claimsOn(view: View, worker: WorkerState): Claim[] {
  const claims: Claim[] = []
  for (const { claim } of worker.active.values()) claims.push(claim)
  for (const { claim } of worker.lost.values()) claims.push(claim)
  const own = claims.length
  for (const { uuid } of worker.facts.hardware.gpus)
    for (const claim of view.devices.get(uuid)?.values() ?? [])
      if (claim.worker !== worker.id && !claims.includes(claim, own)) claims.push(claim)
  return claims
}

/** A worker, and those that show some of its devices. */
export function hostsOf(view: View, worker: string): ReadonlySet<string> {
  const gpus = view.workers.get(worker)?.facts.hardware.gpus ?? []
  return new Set([worker, ...gpus.flatMap(({ uuid }) => view.fleet.hostsOf(uuid))])
}

/** Wall time by which a claim is surely over; null if nobody can know. */
export function surelyOver(view: View, claim: Claim, now: Now): number | null {
  const active = view.active.get(claim.job)
  if (active === undefined || active.claim.attempt !== claim.attempt) return null
  const timeoutMs = view.buckets.get(active.bucket)?.terms.timeoutMs ?? null
  return timeoutMs === null ? null : startOf(active, now) + timeoutMs + MARGIN_MS
}

function startOf({ runningAt }: ActiveJob, now: Now): number {
  return Math.min(runningAt ?? now.wall, now.wall)
}

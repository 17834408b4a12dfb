import type { Bucket, Now } from '../engine/state.ts'
import { hostsOf } from './claims-on.ts'
import { isCooling, isOpen } from './door.ts'
import type { FairShare } from './fair-share.ts'
import { FitByClass } from './fit.ts'
import { limitReason } from './limits.ts'
import { Order, type Waiting } from './order.ts'
import type { View } from './policy.ts'
import { type Reservation, waitOn } from './reservation.ts'

/** How long the head of a bucket is passed over before a worker is kept for it, in lease time. */
const PATIENCE_MS = 60_000
/** Few, so that most of the fleet goes on with what fits; one per worker and bucket in any case. */
const PER_PRIORITY = 4

/** New reservations for heads that were passed over too long, in the order in which jobs start; a higher priority may take a worker from a lower one. */
export function reserve(view: View, held: readonly Reservation[], fair: FairShare, now: Now): readonly Reservation[] {
  let kept = held
  const heads = impatientHeads(view, kept, now)
  if (heads.length === 0) return kept
  const order = new Order(heads, owner => fair.of(owner))
  for (let entry = order.first; entry !== undefined; entry = order.first) {
    const { bucket, head } = entry
    if (isFilled(kept, bucket.priority)) {
      order.dropPriority()
      continue
    }
    order.drop()
    const found = bestWorker(view, bucket, kept, now)
    if (found === null) continue
    const { id: worker, ...wait } = found
    kept = [
      ...kept.filter(other => !hostsOf(view, worker).has(other.worker)),
      { job: head, bucket: bucket.id, priority: bucket.priority, worker, ...wait },
    ]
  }
  return kept
}

function isFilled(kept: readonly Reservation[], priority: number): boolean {
  let count = 0
  for (const reservation of kept) if (reservation.priority === priority) count += 1
  return count >= PER_PRIORITY
}

function impatientHeads(view: View, held: readonly Reservation[], now: Now): Waiting[] {
  const filled = new Set(held.map(({ priority }) => priority).filter(priority => isFilled(held, priority)))
  const behind: Waiting[] = []
  const entries: Waiting[] = []
  for (const [id, { job, since }] of view.waitingHeads) {
    const bucket = view.buckets.get(id)
    if (bucket === undefined || now.lease - since < PATIENCE_MS) continue
    if (filled.has(bucket.priority)) behind.push({ bucket, head: job })
    else if (isImpatient(view, bucket, job, held)) entries.push({ bucket, head: job })
  }
  // Of a priority that has all its places one is freed only if a higher one takes it.
  const waiting = entries.length === 0 ? [] : behind.filter(({ bucket, head }) => isImpatient(view, bucket, head, held))
  return [...entries, ...waiting]
}

function isImpatient(view: View, bucket: Bucket, job: number, held: readonly Reservation[]): boolean {
  if (view.queued.oldest(bucket.id) !== job || limitReason(view, bucket) !== null) return false
  return !held.some(reservation => reservation.bucket === bucket.id)
}

interface Found extends Pick<Reservation, 'until' | 'waitsFor'> {
  readonly id: string
}

/** The one that is surely free soonest; where that is not known, the one with the fewest jobs to wait for. */
function bestWorker(view: View, bucket: Bucket, held: readonly Reservation[], now: Now): Found | null {
  const stronger = held.filter(({ priority }) => priority >= bucket.priority)
  const taken = new Set(stronger.flatMap(({ worker }) => [...hostsOf(view, worker)]))
  const fit = new FitByClass(bucket.shape)
  let best: Found | null = null
  for (const worker of view.workers.values()) {
    if (!fit.with(worker) || taken.has(worker.id)) continue
    if (!isOpen(worker, now) || isCooling(worker, bucket.id, now)) continue
    const wait = waitOn(view, worker, bucket.shape, now)
    if (wait === null) continue
    const found = { id: worker.id, ...wait }
    if (best === null || isSooner(found, best)) best = found
  }
  return best
}

function isSooner(a: Found, b: Found): boolean {
  const [aUntil, bUntil] = [a.until ?? Number.POSITIVE_INFINITY, b.until ?? Number.POSITIVE_INFINITY]
  if (aUntil !== bUntil) return aUntil < bUntil
  if (a.waitsFor.size !== b.waitsFor.size) return a.waitsFor.size < b.waitsFor.size
  return a.id < b.id
}

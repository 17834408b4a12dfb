import type { Bucket, Now, WorkerState } from '../engine/state.ts'
import { misfit } from './fit.ts'
import { Allowance } from './limits.ts'
import type { Placement, Policy, View } from './policy.ts'
import { isOpen, Room } from './room.ts'

/** A bucket in the pass: its oldest unplaced job, and the workers it may still try, fullest first. */
interface Entry {
  readonly bucket: Bucket
  readonly jobs: Iterator<number>
  readonly rooms: readonly Room[]
  head: number
  tried: number
}

/** Priority, then age; each job goes to the fullest worker it fits, so that large gaps stay whole. */
export const packed: Policy = {
  name: 'packed',
  plan(view, now) {
    if (view.queued.size === 0 || (view.dirtyBuckets.size === 0 && view.dirtyWorkers.size === 0)) return []
    const placements: Placement[] = []
    const taken = new Set<string>()
    const allowance = new Allowance(view)
    let entries = openEntries(view, now)
    while (entries.length > 0) {
      const entry = first(entries)
      const placement = allowance.admits(entry.bucket) ? placeHead(entry, taken) : null
      if (placement !== null) {
        placements.push(placement)
        allowance.take(entry.bucket)
      }
      if (placement === null || !advance(entry)) entries = entries.filter(e => e !== entry)
    }
    return placements
  },
}

function openEntries(view: View, now: Now): Entry[] {
  const rooms = new Map<string, Room>()
  const roomOf = (worker: WorkerState): Room => {
    const known = rooms.get(worker.id)
    if (known !== undefined) return known
    const room = new Room(worker, view)
    rooms.set(worker.id, room)
    return room
  }
  const entries: Entry[] = []
  for (const id of view.queued.buckets()) {
    const bucket = view.buckets.get(id)
    if (bucket === undefined) continue
    const workers = candidates(view, bucket, now)
    if (workers.length === 0) continue
    const jobs = view.queued.walk(id)
    const head = jobs.next()
    if (head.done === true) continue
    const sorted = workers.map(roomOf).sort((a, b) => a.freeShare - b.freeShare)
    entries.push({ bucket, jobs, rooms: sorted, head: head.value, tried: 0 })
  }
  return entries
}

/** A bucket with new jobs looks at every worker; one that waits already looks only at workers where something changed. */
function candidates(view: View, bucket: Bucket, now: Now): WorkerState[] {
  const fits = new Map<string, boolean>()
  const pool = view.dirtyBuckets.has(bucket.id) ? view.workers.values() : dirtyWorkers(view)
  const found: WorkerState[] = []
  for (const worker of pool) {
    if (!isOpen(worker, bucket.id, now) || worker.slotsFree < 1) continue
    const look = bucket.shape.worker === null ? worker.classKey : worker.id
    if (!fits.has(look)) fits.set(look, misfit(bucket.shape, worker) === null)
    if (fits.get(look) === true) found.push(worker)
  }
  return found
}

function* dirtyWorkers(view: View): Generator<WorkerState> {
  for (const id of view.dirtyWorkers) {
    const worker = view.workers.get(id)
    if (worker !== undefined) yield worker
  }
}

function first(entries: readonly Entry[]): Entry {
  return entries.reduce((best, entry) => (isBefore(entry, best) ? entry : best))
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.bucket.priority > b.bucket.priority || (a.bucket.priority === b.bucket.priority && a.head < b.head)
}

/** Rooms only shrink within a pass, so a room that was too small for this shape need not be tried again. */
function placeHead(entry: Entry, taken: Set<string>): Placement | null {
  for (; entry.tried < entry.rooms.length; entry.tried += 1) {
    const room = entry.rooms[entry.tried]
    const gpus = room?.take(entry.bucket.shape, taken)
    if (room !== undefined && gpus !== null && gpus !== undefined) {
      return { job: entry.head, bucket: entry.bucket.id, worker: room.worker.id, gpus }
    }
  }
  return null
}

function advance(entry: Entry): boolean {
  const next = entry.jobs.next()
  if (next.done === true) return false
  entry.head = next.value
  return true
}

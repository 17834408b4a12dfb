import type { TaskPlacement } from '../engine/decide/emit.ts'
import { isQuiet } from '../engine/liveness.ts'
import { roomIn } from '../engine/look-ahead.ts'
import type { SessionState, Target } from '../engine/sessions.ts'
import type { Bucket, Now, State } from '../engine/state.ts'

type TaskView = Readonly<
  Pick<State, 'queued' | 'buckets' | 'active' | 'workers' | 'sessions' | 'targets' | 'groups' | 'dirtyTargets'>
>

interface Host {
  readonly session: SessionState
  readonly isReady: boolean
  busy: number
}

interface Queue {
  readonly bucket: Bucket
  readonly walk: Iterator<number>
  head: number
}

/** Gives queued tasks to sessions with free places, looking only at targets where something changed: higher priorities first, then the oldest task; to ready sessions first, then the least busy. Where no place is free, sessions whose tasks are short get some ahead. */
export function planTasks(view: TaskView, now: Now): readonly TaskPlacement[] {
  const placements: TaskPlacement[] = []
  const busy = new Map<number, number>()
  const ofGroup = new Map<string, number>()
  // Who waits for a certain session has no other.
  const names = [...view.dirtyTargets].sort((a, b) => Number(a.startsWith('preset:')) - Number(b.startsWith('preset:')))
  for (const name of names) {
    const target = view.targets.get(name)
    if (target === undefined || target.queued === 0 || target.sessions.size === 0) continue
    const isPreset = name.startsWith('preset:')
    const hosts = [...target.sessions].flatMap(seq => hostOf(view, seq, isPreset, busy, now) ?? [])
    const queues = queuesOf(view, target)
    for (let host = bestOf(hosts); host !== undefined; host = bestOf(hosts)) {
      const queue = firstOf(view, queues, ofGroup)
      if (queue === undefined) break
      const { session } = host
      placements.push({ job: queue.head, session: session.seq })
      host.busy += 1
      busy.set(session.seq, host.busy)
      const { groupId } = queue.bucket
      if (groupId !== null) ofGroup.set(groupId, (ofGroup.get(groupId) ?? 0) + 1)
      advance(queues, queue)
    }
  }
  return placements
}

/** Why a session takes no task now; null if it may. A worker that is being drained finishes what was meant for its sessions alone. */
export function sessionShut(view: TaskView, session: SessionState, isPreset: boolean, now: Now): string | null {
  const active = view.active.get(session.seq)
  if (active === undefined) return 'is not placed yet'
  if (session.endsBy !== null || active.cancelBy !== null) return `ends: ${session.endsBy ?? active.cancelBy}`
  // Whoever asks for this very session may have opened it: its worker gives the first task to the program as it starts.
  if (isPreset && active.state !== 'running') return 'is starting'
  const worker = view.workers.get(active.claim.worker)
  if (worker === undefined || !worker.connected) return 'is on a worker that is not connected'
  if (isQuiet(worker, now)) return 'is on a worker that was not heard for some seconds'
  if (isPreset && worker.draining) return 'is on a worker that is drained'
  if (isPreset && session.isOutdated) return 'was made from an earlier version of its preset'
  return session.restsUntil > now.lease ? 'declined a task a moment ago' : null
}

function hostOf(
  view: TaskView,
  seq: number,
  isPreset: boolean,
  taken: ReadonlyMap<number, number>,
  now: Now,
): Host | null {
  const session = view.sessions.get(seq)
  if (session === undefined || sessionShut(view, session, isPreset, now) !== null) return null
  return { session, isReady: session.readyAt !== null, busy: taken.get(seq) ?? session.places.size }
}

function bestOf(hosts: readonly Host[]): Host | undefined {
  let best: Host | undefined
  for (const host of hosts) {
    if (host.busy >= roomIn(host.session)) continue
    if (best === undefined || isBetter(host, best)) best = host
  }
  return best
}

/** A free place is better than any that will be. */
function isBetter(a: Host, b: Host): boolean {
  const [isFree, isOtherFree] = [hasPlace(a), hasPlace(b)]
  if (isFree !== isOtherFree) return isFree
  if (a.isReady !== b.isReady) return a.isReady
  const [aShare, bShare] = [a.busy / a.session.terms.concurrency, b.busy / b.session.terms.concurrency]
  return aShare !== bShare ? aShare < bShare : a.session.seq < b.session.seq
}

function hasPlace({ busy, session }: Host): boolean {
  return busy < session.terms.concurrency
}

function queuesOf(view: TaskView, { buckets }: Target): Queue[] {
  return [...buckets].flatMap(id => {
    const bucket = view.buckets.get(id)
    const walk = view.queued.walk(id)
    const head = walk.next()
    return bucket === undefined || head.done === true ? [] : [{ bucket, walk, head: head.value }]
  })
}

function firstOf(view: TaskView, queues: readonly Queue[], ofGroup: ReadonlyMap<string, number>): Queue | undefined {
  let first: Queue | undefined
  for (const queue of queues) {
    if (!groupAdmits(view, queue.bucket, ofGroup)) continue
    const isEarlier =
      first === undefined ||
      queue.bucket.priority > first.bucket.priority ||
      (queue.bucket.priority === first.bucket.priority && queue.head < first.head)
    if (isEarlier) first = queue
  }
  return first
}

function groupAdmits(view: TaskView, { groupId }: Bucket, ofGroup: ReadonlyMap<string, number>): boolean {
  const group = groupId === null ? undefined : view.groups.get(groupId)
  if (group === undefined || group.maxParallel === null) return true
  return group.claims + (ofGroup.get(group.id) ?? 0) < group.maxParallel
}

function advance(queues: Queue[], queue: Queue): void {
  const next = queue.walk.next()
  if (next.done === true) queues.splice(queues.indexOf(queue), 1)
  else queue.head = next.value
}

import type { StartingChange } from '@stoker/protocol'
import { limitsOf } from '../../engine/owner-limits.ts'
import type { Bucket, Now, State } from '../../engine/state.ts'
import type { Policy } from '../policy.ts'
import type { RefusalCode } from '../refusal.ts'
import { curedShape, editsBetween } from './spec-edits.ts'
import type { WorkerReasons } from './worker-reasons.ts'
import { startsIn, startsUnder, startsWith } from './would-start.ts'

const SHOWN = 3
/** Each trial is a plan: more would make an answer slow. One that lets the whole queue come first takes longest. */
const MOST_TRIALS = 6
const MOST_WORKERS = 2
const MAX_PRIORITY = 100
const AWAY: readonly RefusalCode[] = ['worker.away', 'worker.quiet', 'worker.mistrusted', 'worker.asks']

export interface Asked {
  readonly state: State
  readonly policy: Policy
  readonly job: number
  readonly bucket: Bucket
  readonly now: Now
}

interface Candidate extends Omit<StartingChange, 'worker'> {
  /** Of changes with as many edits, the one that gives up least comes first. */
  readonly loss: number
  /** The worker on which the next plan would start the job. */
  readonly tryOut: () => string | null
}

/** The smallest changes after which the next plan starts the job, each of them tried. */
export function startingChanges(asked: Asked, found: readonly WorkerReasons[], isLimited: boolean): StartingChange[] {
  const candidates = isLimited ? limitCandidates(asked) : openCandidates(asked, found)
  const unique = [...new Map(candidates.map(one => [JSON.stringify([one.kind, one.edits]), one])).values()]
  unique.sort((a, b) => a.edits.length - b.edits.length || a.loss - b.loss)
  const verified: StartingChange[] = []
  const ofWorkers = unique.filter(isOfWorker).slice(0, MOST_WORKERS)
  const tried = unique.filter(one => !isOfWorker(one) || ofWorkers.includes(one)).slice(0, MOST_TRIALS)
  for (const { kind, text, edits, tryOut } of tried) {
    const worker = verified.length < SHOWN ? tryOut() : null
    if (worker === null) continue
    verified.push({ kind, text, edits, worker: asked.state.workers.get(worker)?.facts.name ?? worker })
  }
  return verified
}

function isOfWorker({ kind }: Candidate): boolean {
  return kind === 'resume' || kind === 'return'
}

/** What a release of a held job would do. */
export function releaseChange({ state, policy, job, bucket, now }: Asked, heldBy: string): StartingChange[] {
  const worker = startsIn(state, policy, job, bucket, now)
  if (worker === null) return []
  const name = state.workers.get(worker)?.facts.name ?? worker
  return [{ kind: 'release', text: 'released', edits: [{ field: 'hold', from: heldBy, to: null }], worker: name }]
}

function openCandidates(asked: Asked, found: readonly WorkerReasons[]): Candidate[] {
  return found.flatMap(reasons => {
    const one = workerCandidate(asked, reasons) ?? priorityCandidate(asked, reasons)
    return one ?? specCandidate(asked, reasons) ?? []
  })
}

function workerCandidate({ state, policy, job, now }: Asked, { worker, never, now: refusals }: WorkerReasons) {
  const [only] = refusals
  if (never.length > 0 || only === undefined || refusals.length > 1) return null
  const isDrained = only.code === 'worker.draining'
  if (!isDrained && !AWAY.includes(only.code)) return null
  const { name } = worker.facts
  return {
    kind: isDrained ? ('resume' as const) : ('return' as const),
    text: isDrained ? `worker ${name} resumed` : `worker ${name} back`,
    edits: [{ field: 'worker', from: isDrained ? 'draining' : 'away', to: name }],
    loss: (isDrained ? 0.01 : 0.9) / (1 + worker.slotsFree),
    tryOut: () => startsWith(state, policy, job, worker, now),
  }
}

function priorityCandidate({ state, policy, job, bucket, now }: Asked, { never, now: refusals }: WorkerReasons) {
  const [only] = refusals
  if (never.length > 0 || refusals.length > 1 || only?.code !== 'worker.reserved') return null
  const held = state.reservations.held.find(reservation => reservation.job === only.job)
  const priority = Math.max(bucket.priority, held?.priority ?? 0) + 1
  if (priority > MAX_PRIORITY) return null
  return {
    kind: 'priority' as const,
    text: `priority ${priority} instead of ${bucket.priority}`,
    edits: [{ field: 'priority', from: bucket.priority, to: priority }],
    loss: 0,
    tryOut: () => startsIn(state, policy, job, { ...bucket, priority }, now),
  }
}

function specCandidate({ state, policy, job, bucket, now }: Asked, reasons: WorkerReasons): Candidate | null {
  const shape = curedShape(bucket.shape, reasons)
  if (shape === null) return null
  const told = editsBetween(bucket.shape, shape)
  if (told.edits.length === 0) return null
  return { kind: 'spec', ...told, tryOut: () => startsIn(state, policy, job, { ...bucket, shape }, now) }
}

function limitCandidates({ state, policy, job, bucket, now }: Asked): Candidate[] {
  const { owner, shape } = bucket
  const limits = limitsOf(state, owner)
  const use = state.ownerUses.get(owner)?.now
  const enough = { running: (use?.slots ?? 0) + 1, gpus: (use?.devices ?? 0) + shape.gpus }
  return (['running', 'gpus'] as const).flatMap(name => {
    const from = limits[name]
    if (from === null || enough[name] <= from) return []
    return [enough[name], null].map((to, index) => ({
      kind: 'limit' as const,
      text:
        to === null ? `no limit of ${name} for ${owner}` : `a limit of ${to} ${name} for ${owner} instead of ${from}`,
      edits: [{ field: `limits.${name}`, from, to }],
      loss: index,
      tryOut: () => startsUnder(state, policy, job, { owner, limits: { ...limits, [name]: to } }, now),
    }))
  })
}

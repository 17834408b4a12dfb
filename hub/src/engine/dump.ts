import type { SessionState, Target } from './sessions.ts'
import { type ActiveJob, type Claim, claimKey, type LostAttempt, type State, type WorkerState } from './state.ts'

/** Live state in one canonical, JSON-able form without what is volatile: two states that must be equal give equal text. */
export type StateDump = Readonly<Record<string, unknown>>

/** Left out: liveness, what a plan still has to look at, empty counters, and the last bucket number, which falls back when the newest bucket is dropped. */
export function dump(state: State): StateDump {
  return {
    epoch: state.epoch,
    lastSeq: state.lastSeq,
    journal: { ...state.journal },
    buckets: byKey(state.buckets, ({ key, live }) => ({ key, live })),
    queued: dumpQueued(state),
    waiting: byKey(state.waiting, waiting => ({ ...waiting })),
    edges: dumpEdges(state),
    settling: byKey(state.settling, end => end),
    active: byKey(state.active, dumpActive),
    workers: byKey(state.workers, dumpWorker),
    devices: byKey(state.devices, holders => [...holders.keys()].sort()),
    quarantined: byKey(state.quarantined, quarantine => sorted(quarantine)),
    ownerUses: byKey(state.ownerUses, use => sorted(use)),
    tokens: byKey(state.tokens, token => sorted(token)),
    webhooks: byKey(state.webhooks, webhook => sorted(webhook)),
    groups: byKey(state.groups, group => sorted(group)),
    limits: byKey(state.limits, limits => sorted(limits)),
    schedules: byKey(state.schedules, schedule => sorted(schedule)),
    sessions: byKey(state.sessions, dumpSession),
    targets: byKey(state.targets, dumpTarget),
    orphans: [...state.orphans].sort(),
    secrets: byKey(state.secrets, secret => sorted(secret)),
    counters: byKey(state.counters, counts => sorted(Object.fromEntries(Object.entries(counts).filter(([, n]) => n)))),
  }
}

function dumpSession({ seq, id, owner, terms, places, endsBy }: SessionState): unknown {
  return { seq, id, owner, terms: sorted(terms), places: [...places.keys()].sort(), endsBy }
}

/** How a session ended is not kept beyond the process. */
function dumpTarget({ sessions, buckets, queued }: Target): unknown {
  return { sessions: [...sessions].sort((a, b) => a - b), buckets: [...buckets].sort((a, b) => a - b), queued }
}

function dumpQueued(state: State): unknown {
  const jobs = [...state.queued.buckets()].flatMap(bucket => [...state.queued.walk(bucket)])
  return jobs.sort((a, b) => a - b).map(seq => ({ ...state.queued.get(seq) }))
}

function dumpEdges({ edges }: State): unknown {
  const all = [...edges.jobs()].flatMap(job => [...edges.of(job)])
  return all.sort((a, b) => a.job - b.job || a.dependency - b.dependency)
}

function dumpActive({ newsAt: _, claim, ...active }: ActiveJob): unknown {
  return { ...sorted(active), claim: dumpClaim(claim) }
}

function dumpClaim(claim: Claim): unknown {
  return sorted(claim)
}

function dumpWorker(worker: WorkerState): unknown {
  const { id, registeredAt, facts, classKey, draining, batch, note, cpusMilliFree, memoryMbFree, slotsFree, leased } =
    worker
  return {
    ...{ id, registeredAt, classKey, draining, batch, note, cpusMilliFree, memoryMbFree, slotsFree, leased },
    facts: sorted(facts),
    active: [...worker.active.values()].map(({ claim }) => claimKey(claim)).sort(),
    lost: byKey(worker.lost, dumpLost),
  }
}

function dumpLost({ claim, ...lost }: LostAttempt): unknown {
  return { ...sorted(lost), claim: dumpClaim(claim) }
}

function byKey<K extends string | number, V>(map: ReadonlyMap<K, V>, show: (value: V) => unknown): unknown {
  const keys = [...map.keys()].sort((a, b) => (a < b ? -1 : 1))
  return Object.fromEntries(
    keys.flatMap(key => {
      const value = map.get(key)
      return value === undefined ? [] : [[`${key}`, show(value)]]
    }),
  )
}

/** Objects rebuilt from rows name their fields in another order. */
function sorted(part: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(part)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, isPlain(value) ? sorted(value) : value]),
  )
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

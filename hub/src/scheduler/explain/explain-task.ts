import { countAhead } from '../../engine/look-ahead.ts'
import type { SessionState } from '../../engine/sessions.ts'
import type { Bucket, Now, State } from '../../engine/state.ts'
import { sessionShut } from '../plan-tasks.ts'
import type { ExplainedJob } from './explain-job.ts'
import type { Reason } from './reasons.ts'

const SHOWN_SESSIONS = 12
/** Tasks counted one by one before the rest is taken as it stands. */
const MOST_STEPS = 4000

/** Why a task waits: what the sessions it could go to do, and how many tasks come first. */
export function explainTask(state: State, job: number, bucket: Bucket, now: Now): ExplainedJob {
  const name = bucket.shape.target ?? ''
  const target = state.targets.get(name)
  const isPreset = name.startsWith('preset:')
  const sessions = [...(target?.sessions ?? [])].flatMap(seq => state.sessions.get(seq) ?? [])
  const reasons = sessions.slice(0, SHOWN_SESSIONS).map(session => reasonOf(state, session, isPreset, now))
  return {
    bucket,
    couldRun: sessions.length,
    workers: state.workers.size,
    reasons,
    position: aheadOf(state, job, bucket, target?.buckets ?? new Set()),
    start: null,
    changes: [],
    summary: summaryOf(state, name, sessions, isPreset, now),
  }
}

function reasonOf(state: State, session: SessionState, isPreset: boolean, now: Now): Reason {
  const shut = sessionShut(state, session, isPreset, now)
  const { terms, seq, id } = session
  const busy = `has ${takenIn(session)} of ${terms.concurrency} places taken`
  const worker = state.workers.get(state.active.get(seq)?.claim.worker ?? '')?.facts.name
  return {
    when: 'notNow',
    codes: [shut === null ? 'session.busy' : 'session.shut'],
    text: `session ${id.slice(-12)} ${shut ?? busy}`,
    workers: { count: worker === undefined ? 0 : 1, names: worker === undefined ? [] : [worker] },
    closest: null,
    job: seq,
  }
}

function summaryOf(state: State, name: string, sessions: readonly SessionState[], isPreset: boolean, now: Now): string {
  const what = name.slice(name.indexOf(':') + 1)
  if (sessions.length === 0)
    return isPreset
      ? `no session of preset ${what} lives; it waits until the hub, by the preset, or someone starts one`
      : `session ${what} has ended`
  const open = sessions.filter(session => sessionShut(state, session, isPreset, now) === null)
  const many = sessions.length === 1 ? 'the session' : `${sessions.length} sessions`
  if (open.length === 0) return `${many} could take it, none takes tasks now`
  const places = open.reduce((sum, { terms }) => sum + terms.concurrency, 0)
  const taken = open.reduce((sum, session) => sum + takenIn(session), 0)
  return `${many} could take it, ${taken} of ${places} places are taken`
}

/** Higher priorities, then older tasks. */
function aheadOf(
  state: State,
  job: number,
  { priority }: Bucket,
  buckets: ReadonlySet<number>,
): ExplainedJob['position'] {
  let [ahead, steps, isExact] = [0, 0, true]
  for (const id of buckets) {
    const other = state.buckets.get(id)
    if (other === undefined || other.priority < priority) continue
    if (other.priority > priority || (state.queued.newest(id) ?? 0) < job) {
      ahead += state.queued.sizeOf(id)
      continue
    }
    for (const seq of state.queued.walk(id)) {
      if (seq >= job) break
      steps += 1
      if (steps > MOST_STEPS) isExact = false
      if (!isExact) break
      ahead += 1
    }
  }
  return { ahead, isExact }
}

function takenIn(session: SessionState): number {
  return session.places.size - countAhead(session)
}

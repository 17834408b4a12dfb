import { type Change, type ChangeOf, type Fence, fenceKey, type JobState } from '@stoker/protocol'
import { MOST_AHEAD, quickMs } from '../engine/look-ahead.ts'
import { type Complain, nameFence } from './problems.ts'

interface Kept {
  readonly id: string
  readonly concurrency: number
  fence: Fence | null
  worker: string
  /** From its placement until it is lost or over. */
  isPlaced: boolean
  isRunning: boolean
  isLeaving: boolean
  /** A task of its newest attempt took so little that it may get some ahead. */
  isQuick: boolean
  /** Of the newest attempt. */
  places: Set<string>
}

interface Kind {
  readonly target: string | null
  readonly concurrency: number | null
}

/** As many tasks as a hub fails in one commit for the end of a session. */
const MOST_A_COMMIT = 1000

/** Follows sessions and the tasks in their places: none is over-committed, tasks are only where their session is, and none waits for a session that has ended. Needs the whole journal. */
export class SessionBook {
  readonly #complain: Complain
  readonly #stateOf: (seq: number) => JobState | null
  readonly #kinds = new Map<number, Kind>()
  readonly #sessions = new Map<number, Kept>()
  readonly #targets = new Map<number, string>()
  readonly #tasks = new Map<string, Set<number>>()
  readonly #orphaned = new Set<string>()
  readonly #holders = new Map<string, number>()
  #ends = 0

  constructor(complain: Complain, stateOf: (seq: number) => JobState | null) {
    this.#complain = complain
    this.#stateOf = stateOf
  }

  take(change: Change): void {
    switch (change.c) {
      case 'bucket':
        this.#kinds.set(change.id, {
          target: change.shape.target,
          concurrency: change.terms.session?.concurrency ?? null,
        })
        break
      case 'submitted':
        for (const { seq, id, bucket } of change.jobs) this.#submit(seq, id, this.#kinds.get(bucket))
        break
      case 'placed':
        this.#place(change)
        break
      case 'running':
        this.#of(change.job, session => Object.assign(session, { isRunning: true }))
        break
      case 'stopRequested':
        this.#of(change.job, session => Object.assign(session, { isLeaving: true }))
        break
      case 'lost':
        this.#of(change.job, session => Object.assign(session, { isPlaced: false, isRunning: false }))
        break
      case 'resumed':
        this.#of(change.job, session => Object.assign(session, { isPlaced: true, isRunning: true }))
        break
      case 'released':
        this.#leave(change)
        break
      case 'attemptEnded':
        this.#learn(change)
        this.#leave(change)
        this.#of(change.job, session => Object.assign(session, { isPlaced: false, isRunning: false }))
        if (change.next !== 'queued' && change.next !== 'waiting') this.#end(change.job)
        break
      case 'ended':
        this.#ends += 1
        this.#end(change.job)
        break
      default:
    }
  }

  /** All changes of a commit were taken. */
  closeCommit(): void {
    if (this.#orphaned.size > 0 && this.#ends < MOST_A_COMMIT) {
      for (const target of this.#orphaned)
        for (const task of this.#tasks.get(target) ?? [])
          if (this.#stateOf(task) === 'queued') this.#complain('a', `task ${task} waits for ${target}, which has ended`)
    }
    this.#ends = 0
  }

  #submit(seq: number, id: string, kind: Kind | undefined): void {
    if (kind === undefined) return
    if (kind.concurrency !== null) {
      const fresh = {
        fence: null,
        worker: '',
        isPlaced: false,
        isRunning: false,
        isLeaving: false,
        isQuick: false,
        places: new Set<string>(),
      }
      this.#sessions.set(seq, { id, concurrency: kind.concurrency, ...fresh })
    }
    if (kind.target === null) return
    this.#targets.set(seq, kind.target)
    const known = this.#tasks.get(kind.target)
    if (known === undefined) this.#tasks.set(kind.target, new Set([seq]))
    else known.add(seq)
  }

  #place(change: ChangeOf<'placed'>): void {
    const { job, epoch, attempt, worker } = change
    this.#of(job, session =>
      Object.assign(session, {
        fence: { job, epoch, attempt },
        worker,
        isPlaced: true,
        isRunning: false,
        isQuick: false,
        places: new Set(),
      }),
    )
    const isTask = this.#targets.has(job)
    if (change.session === undefined) {
      if (isTask) this.#complain('d', `${nameFence(change)} is a task and was placed outside a session`)
      return
    }
    const session = this.#sessions.get(change.session)
    const complain = (text: string): void =>
      this.#complain('d', `${nameFence(change)} was placed in session ${change.session}, which ${text}`)
    if (session === undefined) {
      complain('does not live')
      return
    }
    if (!isTask) complain('takes tasks only')
    // Whoever asks for this very session may come before its program runs.
    const mayBeEarly = this.#targets.get(job)?.startsWith('session:') === true
    if (!session.isRunning && !(mayBeEarly && session.isPlaced)) complain('does not run')
    if (session.isLeaving) complain('was asked to leave')
    if (session.worker !== worker) complain(`is on worker ${session.worker}, not on ${worker}`)
    session.places.add(fenceKey(change))
    this.#holders.set(fenceKey(change), change.session)
    if (session.places.size > session.concurrency + (session.isQuick ? MOST_AHEAD : 0))
      complain(`then has ${session.places.size} tasks and ${session.concurrency} places`)
  }

  #learn(end: ChangeOf<'attemptEnded'>): void {
    if (this.#holders.size === 0) return
    const { startedAt, at, outcome } = end
    const key = fenceKey(end)
    const session = this.#sessions.get(this.#holders.get(key) ?? -1)
    if (session?.places.has(key) !== true || outcome !== 'completed' || startedAt === null) return
    if (at - startedAt < quickMs(session.concurrency)) session.isQuick = true
  }

  #leave(fence: Fence): void {
    if (this.#holders.size === 0) return
    const key = fenceKey(fence)
    this.#sessions.get(this.#holders.get(key) ?? -1)?.places.delete(key)
    this.#holders.delete(key)
  }

  #end(job: number): void {
    const session = this.#sessions.get(job)
    if (session !== undefined) {
      this.#sessions.delete(job)
      if (this.#tasks.has(`session:${session.id}`)) this.#orphaned.add(`session:${session.id}`)
    }
    const target = this.#targets.get(job)
    if (target === undefined) return
    this.#targets.delete(job)
    const tasks = this.#tasks.get(target)
    tasks?.delete(job)
    if (tasks?.size !== 0) return
    this.#tasks.delete(target)
    this.#orphaned.delete(target)
  }

  #of(job: number, change: (session: Kept) => void): void {
    const session = this.#sessions.get(job)
    if (session !== undefined) change(session)
  }
}

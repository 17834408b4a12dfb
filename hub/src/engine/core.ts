import { hash } from 'node:crypto'
import type { Change, RowWrite } from '@stoker/protocol'
import type { Policy } from '../scheduler/policy.ts'
import { apply } from './apply.ts'
import type { Command, Facts, NewJob, Replies } from './commands.ts'
import { decide } from './decide/decide.ts'
import type { Emit, Rules } from './decide/emit.ts'
import { settle } from './decide/settle.ts'
import { settlePlaces } from './decide/settle-places.ts'
import { projectGroups } from './groups.ts'
import { changeText, journalBody } from './journal-text.ts'
import { keepPlan } from './keep-plan.ts'
import { wakeLimited } from './owner-limits.ts'
import { project } from './project.ts'
import { projectCounters, projectOwnerUses } from './project-sums.ts'
import type { Now, State } from './state.ts'

/** Everything one batch of commands did, ready to be made durable and then told. */
export interface Batch {
  readonly n: number
  readonly at: number
  readonly changes: readonly Change[]
  readonly submissions: ReadonlyMap<number, NewJob>
  readonly commit: {
    readonly journal: { readonly n: number; readonly at: number; readonly hash: string; readonly body: string } | null
    readonly rows: readonly RowWrite[]
  }
}

const NO_SUBMISSIONS: Batch['submissions'] = new Map()

/** The synchronous heart: commands in, one batch out. The loop and the simulator both drive it; neither can do more than it allows. */
export class Core {
  readonly state: State
  readonly #policy: Policy
  readonly #rules: Rules
  #changes: Change[] = []
  #texts: string[] = []
  #rows: RowWrite[] = []
  #submissions = new Map<number, NewJob>()

  constructor(state: State, policy: Policy, rules: Rules) {
    this.state = state
    this.#policy = policy
    this.#rules = rules
  }

  /** Decides and applies to memory at once; what it says must not leave before the batch is durable. Throws Refused with nothing changed. */
  execute<K extends Command['kind']>(command: Extract<Command, { kind: K }>, facts: Facts, now: Now): Replies[K] {
    return decide(this.state, command, facts, now, this.#emit, this.#rules)
  }

  /** A fact that needs no deciding, such as the start of an epoch. */
  record(change: Change): void {
    this.#emit.change(change)
  }

  /** Jobs have ended and not all who wait for them were told: the next batch goes on. */
  get isBehind(): boolean {
    return this.state.settling.size > 0 || this.state.orphans.size > 0
  }

  /** Settles what waited for ended jobs, lets the policy place what can start now and closes the batch; null if nothing happened. */
  finish(now: Now): Batch | null {
    settlePlaces(this.state, now, this.#emit)
    settle(this.state, now, this.#emit)
    this.#place(now)
    this.#placeTasks(now)
    if (this.#changes.length === 0 && this.#rows.length === 0) return null
    const { state } = this
    const rows = this.#rows
    projectCounters(state, rows)
    projectGroups(state, now.wall, rows)
    projectOwnerUses(state, rows)
    const changes = this.#changes
    const submissions = this.#submissions.size === 0 ? NO_SUBMISSIONS : this.#submissions
    this.#changes = []
    this.#rows = []
    if (submissions === this.#submissions) this.#submissions = new Map()
    empty(state.dirtyCounters)
    empty(state.dirtyGroups)
    empty(state.dirtyOwners)
    if (changes.length === 0)
      return { n: state.journal.n, at: now.wall, changes, submissions, commit: { journal: null, rows } }
    const body = journalBody(state.epoch, this.#texts)
    this.#texts = []
    const n = state.journal.n + 1
    state.journal = { n, hash: chainHash(state.journal.hash, n, body) }
    const journal = { n, at: now.wall, hash: state.journal.hash, body }
    return { n, at: now.wall, changes, submissions, commit: { journal, rows } }
  }

  #place(now: Now): void {
    const { state } = this
    wakeLimited(state)
    const plan = this.#policy.plan(state, now)
    for (const { job, worker, gpus } of plan.placements) {
      const attempt = (state.queued.get(job)?.attempts ?? 0) + 1
      this.#emit.change({ c: 'placed', job, epoch: state.epoch, attempt, worker, gpus: [...gpus], at: now.wall })
      const active = state.active.get(job)
      if (active !== undefined) active.newsAt = now.lease
    }
    empty(state.dirtyBuckets)
    empty(state.dirtyWorkers)
    for (const id of state.askers) {
      const worker = state.workers.get(id)
      if (worker !== undefined) worker.asks = 0
    }
    empty(state.askers)
    keepPlan(state, plan, now)
  }

  #placeTasks(now: Now): void {
    const { state } = this
    if (state.dirtyTargets.size === 0) return
    for (const { job, session } of this.#rules.planTasks(state, now)) {
      const worker = state.active.get(session)?.claim.worker
      if (worker === undefined) throw new Error(`task ${job} was given to session ${session}, which is not active`)
      const attempt = (state.queued.get(job)?.attempts ?? 0) + 1
      this.#emit.change({ c: 'placed', job, epoch: state.epoch, attempt, worker, gpus: [], at: now.wall, session })
      const active = state.active.get(job)
      if (active !== undefined) active.newsAt = now.lease
    }
    empty(state.dirtyTargets)
  }

  readonly #emit: Emit = {
    change: change => {
      for (const row of project(change, this.state, this.#submissions)) this.#rows.push(row)
      apply(this.state, change)
      this.#changes.push(change)
      this.#texts.push(changeText(change))
    },
    submission: (seq, job) => {
      this.#submissions.set(seq, job)
    },
    rows: rows => {
      this.#rows.push(...rows)
    },
  }
}

/** V8 clears what is empty as slowly as what is full. */
export function empty(all: { readonly size: number; readonly clear: () => void }): void {
  if (all.size > 0) all.clear()
}

/** Each journal row's hash covers its number, its body and the hash before it. */
export function chainHash(before: string, n: number, body: string): string {
  return hash('sha256', `${before}\n${n}\n${body}`, 'hex')
}

import type { JobSpecInput } from '@stoker/protocol'
import { createChecker } from '../verify/checker.ts'
import { hearReady } from './sessions.ts'
import { aJob, TestHouse } from './test-house.ts'

type SessionInput = NonNullable<JobSpecInput['session']>

export function aSession(id: string, session: SessionInput = {}, spec: JobSpecInput = {}) {
  return aJob({ command: 'serve', session, ...spec }, id)
}

export const aTask = (session: string, spec: JobSpecInput = {}) => aJob({ type: 'task', task: { session }, ...spec })
export const aPresetTask = (preset: string) => aJob({ type: 'task', task: { preset } })

/** A house with sessions in it. */
export class SessionHouse extends TestHouse {
  /** A session that runs and is ready. */
  warm(id: string, session: SessionInput = {}, spec: JobSpecInput = {}, worker = 'w'): number {
    const seq = this.submit(aSession(id, session, spec))
    this.report(worker, this.running(this.fenceOf(seq)))
    hearReady(this.state, this.fenceOf(seq), true, this.now.wall)
    return seq
  }

  /** What is wrong with its history. */
  get problems() {
    const checker = createChecker()
    for (const { commit } of this.journal) if (commit.journal !== null) checker.commit(commit.journal)
    return checker.problems
  }
}

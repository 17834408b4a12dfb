import type { AttemptRow, JobRow } from '@stoker/protocol'
import { isOver } from '../../serving/follow-job.ts'

/** What is stored of one attempt, as its events need it. */
export interface AttemptFacts {
  readonly number: number
  readonly gpus: readonly string[]
  readonly runningAt: number | null
  readonly containerId: string | null
  /** Nothing of this changes any more. */
  readonly isFinal: boolean
}

/** The last attempt is in the job's row, earlier ones are rows of their own; null for one that was not placed yet. */
export function attemptFacts(row: JobRow, earlier: readonly AttemptRow[], number: number): AttemptFacts | null {
  if (number > row.attempts) return null
  if (number === row.attempts) {
    const gpus: string[] = row.gpus === null ? [] : JSON.parse(row.gpus)
    const { runningAt, containerId } = row
    return { number, gpus, runningAt, containerId, isFinal: isOver(row, number) }
  }
  const body = earlierBody(earlier, number)
  const { gpus = [], runningAt = null, containerId = null } = body ?? {}
  return { number, gpus, runningAt, containerId, isFinal: true }
}

/** Why an attempt was followed by another one. */
export function endOfAttempt(earlier: readonly AttemptRow[], number: number): string {
  const body = earlierBody(earlier, number)
  return body === null ? 'ended' : [body.outcome, body.error].filter(part => part !== null).join(': ')
}

interface EarlierBody {
  readonly gpus: readonly string[]
  readonly runningAt: number | null
  readonly containerId?: string
  readonly outcome: string
  readonly error: string | null
}

function earlierBody(earlier: readonly AttemptRow[], number: number): EarlierBody | null {
  const row = earlier.find(attempt => attempt.number === number)
  return row === undefined ? null : JSON.parse(row.body)
}

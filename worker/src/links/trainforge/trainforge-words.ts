import { constants } from 'node:os'
import { type EndedReport, newsIn } from '@stoker/protocol'
import type { JobRecord } from '../foreign/job-record.ts'

/** Which of the two ways a scheduler is talked to. workers: it hands jobs out by poll. claims: workers claim what they find. */
export type Manner = 'workers' | 'claims'

export interface Word {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly json: string
}

interface Speaker {
  readonly workerId: string
  readonly manner: Manner
}

export function runningWord({ workerId, manner }: Speaker, id: string, at: number): Word {
  if (manner === 'claims') return statusPut(id, { status: 'running', message: 'started', worker_id: workerId })
  return statusPost({ worker_id: workerId, job_id: id, status: 'running', timestamp: at / 1000 })
}

export interface LastFacts {
  readonly at: number
  /** Its worker leaves: that is no failure of the job. */
  readonly isInterrupted: boolean
  /** The hub is one of ours and hears why a job was not started. */
  readonly hearsDeclines: boolean
  readonly note: string | null
}

/** The last word about a job. */
export function lastWord({ workerId, manner }: Speaker, record: JobRecord, end: EndedReport, facts: LastFacts): Word {
  const status = statusOf(record, end, facts)
  const reason = [end.error, newsIn(end.note), facts.note].filter(one => one !== null).join('; ')
  const duration = end.startedAt === null ? 0 : (end.at - end.startedAt) / 1000
  const details = { exit_codes: exitCodes(end), duration, ...(reason === '' ? {} : { error_message: reason }) }
  if (manner === 'claims') {
    const message = reason === '' ? `exit code ${end.exitCode ?? 'unknown'}` : reason
    return statusPut(record.id, { status, message, worker_id: workerId, ...details })
  }
  const base = { worker_id: workerId, job_id: record.id, status, timestamp: facts.at / 1000 }
  return statusPost(status === 'declined' ? { ...base, reason } : { ...base, ...details })
}

function statusOf(record: JobRecord, { outcome }: EndedReport, { isInterrupted, hearsDeclines }: LastFacts): string {
  if (outcome === 'completed') return 'completed'
  if (outcome === 'canceled' || (outcome === 'lost' && isInterrupted)) return 'cancelled'
  return record.isDeclined && hearsDeclines && record.note.isRunningTold !== true ? 'declined' : 'failed'
}

/** Negative where a signal ended it, null where nobody knows. */
function exitCodes({ startedAt, exitCode, signal }: EndedReport): readonly (number | null)[] {
  if (startedAt === null) return []
  const number = signal === null ? undefined : (constants.signals as Readonly<Record<string, number>>)[signal]
  return [number === undefined ? exitCode : -number]
}

function statusPost(body: object): Word {
  return { method: 'POST', path: '/api/workers/job-status', json: JSON.stringify(body) }
}

function statusPut(id: string, body: object): Word {
  return { method: 'PUT', path: `/api/jobs/${encodeURIComponent(id)}/status`, json: JSON.stringify(body) }
}

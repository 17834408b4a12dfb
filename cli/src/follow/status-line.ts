import { formatDuration, type Job } from '@stoker/protocol'
import { plainText, widthOf } from '../output/plain-text.ts'

const WIDEST_BAR = 20
const NARROWEST_BAR = 5
/** A rate of less than this is noise of the first moment. */
const RATE_AFTER_MS = 2_000

/** How a job stands, with the first progress of its attempt, against which its rate is measured. */
export interface Standing {
  readonly job: Job
  readonly percent: number | null
  readonly operation: string
  readonly first: { readonly attempt: number; readonly percent: number; readonly at: number } | null
}

/** What is known now; an attempt that starts anew forgets how far the last one came. */
export function standingOf(
  before: Standing | null,
  now: number,
  news: { readonly job?: Job; readonly percent?: number | null; readonly operation?: string | null },
): Standing | null {
  const job = news.job ?? before?.job
  if (job === undefined) return null
  const isSame = before?.job.attempts === job.attempts
  const percent = news.percent ?? news.job?.progress?.percent ?? (isSame ? before.percent : null)
  const operation = news.operation ?? news.job?.progress?.operation ?? (isSame ? before.operation : '')
  const first = isSame ? before.first : null
  const start = percent === null ? null : { attempt: job.attempts, percent, at: now }
  return { job, percent, operation, first: first ?? start }
}

/** One line of at most `room` columns; what matters least is left out first. */
export function statusText(standing: Standing, now: number, room: number): string {
  const { job, operation, percent } = standing
  const since = formatDuration(Math.max(0, now - Date.parse(job.startedAt ?? job.submittedAt)))
  const isRunning = job.state === 'active' && !job.cancelRequested
  const what = plainText(operation)
  const state = plainText(stateWords(job))
  const speed = isRunning ? speedWords(standing, now) : []
  const tails = [
    [state, what, since, ...speed],
    [state, what, since, ...speed.slice(0, 1)],
    [state, what, since],
    [what === '' ? state : what, since],
    [since],
  ].map(parts => parts.filter(part => part !== '').join(', '))
  const shown = isRunning && percent !== null ? Math.max(0, Math.min(100, percent)) : null
  for (const tail of tails) {
    const head = shown === null ? '' : headOf(shown, room - widthOf(tail) - 1)
    if (head !== null && widthOf(head) + widthOf(tail) <= room) return head + tail
  }
  return shown === null ? (tails[3] ?? '') : percentText(shown)
}

function stateWords(job: Job): string {
  if (job.cancelRequested) return 'stopping'
  if (job.state === 'active') return job.worker === null ? 'running' : `running on ${job.worker.name}`
  return job.unschedulable ?? job.state
}

/** A bar as wide as there is room, null when there is none even for a short one. */
function headOf(percent: number, room: number): string | null {
  const text = `${percentText(percent)} `
  const width = Math.min(WIDEST_BAR, room - text.length - 1)
  if (width < NARROWEST_BAR) return null
  const filled = Math.round((percent / 100) * width)
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${text}`
}

function percentText(percent: number): string {
  return `${Math.floor(percent)}%`
}

function speedWords({ first, percent }: Standing, now: number): string[] {
  if (first === null || percent === null || percent <= first.percent || now - first.at < RATE_AFTER_MS) return []
  const perMs = (percent - first.percent) / (now - first.at)
  const rate = perMs * 1000 >= 1 ? `${(perMs * 1000).toFixed(1)} %/s` : `${(perMs * 60_000).toFixed(1)} %/min`
  return percent >= 100 ? [rate] : [`${formatDuration((100 - percent) / perMs)} left`, rate]
}

import type { Client, JobEvent } from '@stoker/client'
import { formatDuration, type Job } from '@stoker/protocol'
import type { Io, Out } from '../io.ts'
import { plainText } from '../output/plain-text.ts'
import { Screen } from './screen.ts'

export interface FollowJobOptions {
  /** Where the program's output goes; null keeps it away. */
  readonly stdout: Out | null
  readonly stderr: Out | null
  /** Told in words what happens beside the output. */
  readonly note: (text: string) => void
  readonly signal: AbortSignal
}

interface Standing {
  job: Job | null
  operation: string
  percent: number | null
}

/** Shows a job live until it has ended, over lost connections too, and gives the ended job. */
export async function followJob(client: Client, id: string, io: Io, options: FollowJobOptions): Promise<Job> {
  const screen = new Screen(io)
  const standing: Standing = { job: null, operation: '', percent: null }
  const note = (text: string) => {
    screen.status('')
    options.note(text)
  }
  const refresh = () => screen.status(options.stdout === null ? '' : statusText(standing, io.now()))
  const ticking = io.stderr.isTTY ? setInterval(refresh, 1000) : undefined
  let isAway = false
  const onLost = () => {
    if (!isAway) note('the hub is away; the job goes on, waiting for the hub')
    isAway = true
  }
  try {
    for await (const event of client.events(id, { signal: options.signal, onLost })) {
      isAway = false
      if (event.event === 'end') return event.job
      if (event.event === 'job') noteChange(standing.job, event.job, note)
      show(event, standing, screen, options)
      refresh()
    }
  } finally {
    clearInterval(ticking)
    screen.end()
  }
  throw new Error(`the events of job ${id} should close with its end, they closed without`)
}

function show(event: JobEvent, standing: Standing, screen: Screen, { stdout, stderr }: FollowJobOptions): void {
  if ('job' in event) {
    standing.job = event.job
    standing.percent = event.job.progress?.percent ?? standing.percent
    standing.operation = event.job.progress?.operation ?? standing.operation
    return
  }
  const { data } = event
  if (event.event === 'progress') {
    standing.percent = numberOf(data.percent ?? data.progress) ?? standing.percent
    standing.operation = textOf(data.operation ?? data.message) ?? standing.operation
    return
  }
  const out = data.stream === 'stderr' ? stderr : stdout
  if (out === null) return
  if (event.event === 'logs') screen.line(out, textOf(data.log ?? data.message) ?? JSON.stringify(data))
  if (event.event === 'text_delta') screen.raw(out, textOf(data.delta ?? data.text ?? data.text_delta) ?? '')
  if (event.event === 'text') screen.line(out, textOf(data.text) ?? JSON.stringify(data))
}

function noteChange(before: Job | null, job: Job, note: (text: string) => void): void {
  if (job.unschedulable !== null && job.unschedulable !== before?.unschedulable)
    note(`waiting: ${plainText(job.unschedulable)}`)
  if (before?.state !== 'active' && job.state === 'waiting' && job.reason !== null && job.reason !== before?.reason)
    note(plainText(job.reason))
  if (before !== null && job.attempts > before.attempts && job.attempts > 1)
    note(`attempt ${job.attempts}${job.worker === null ? '' : ` on ${plainText(job.worker.name)}`}`)
  if (before?.state === 'active' && (job.state === 'queued' || job.state === 'waiting') && job.reason !== null)
    note(`back in the queue: ${plainText(job.reason.split('\n', 1).join(''))}`)
}

function statusText({ job, operation, percent }: Standing, now: number): string {
  if (job === null) return ''
  const since = formatDuration(Math.max(0, now - Date.parse(job.startedAt ?? job.submittedAt)))
  const where = job.worker === null ? '' : ` on ${job.worker.name}`
  const done = job.state === 'active' && percent !== null ? `${bar(percent)} ${Math.round(percent)}% ` : ''
  const state = job.state === 'active' ? `running${where}` : (job.unschedulable ?? job.state)
  return plainText(
    `${done}${job.cancelRequested ? 'stopping' : state}${operation === '' ? '' : `, ${operation}`}, ${since}`,
  )
}

function bar(percent: number): string {
  const filled = Math.max(0, Math.min(20, Math.round(percent / 5)))
  return `${'█'.repeat(filled)}${'░'.repeat(20 - filled)}`
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

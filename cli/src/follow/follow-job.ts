import type { Client, JobEvent } from '@stoker/client'
import type { Job } from '@stoker/protocol'
import type { Io, Out } from '../io.ts'
import { plainText } from '../output/plain-text.ts'
import { Screen } from './screen.ts'
import { SpokenPieces } from './spoken-pieces.ts'
import { type Standing, standingOf, statusText } from './status-line.ts'

export interface FollowJobOptions {
  /** Where the program's output goes; null keeps it away. */
  readonly stdout: Out | null
  readonly stderr: Out | null
  /** A line below the output that tells how the job stands; only a terminal has one. */
  readonly hasStatus: boolean
  /** Told in words what happens beside the output. */
  readonly note: (text: string) => void
  readonly signal: AbortSignal
}

/** Shows a job live until it has ended, over lost connections too, and gives the ended job. Of a whole text only what its pieces did not say is shown. */
export async function followJob(client: Client, id: string, io: Io, options: FollowJobOptions): Promise<Job> {
  const screen = new Screen(io)
  const note = (text: string) => screen.note(() => options.note(text))
  let standing: Standing | null = null
  const refresh = () => {
    if (options.hasStatus && standing !== null) screen.status(statusLine(standing, io))
  }
  const ticking = options.hasStatus && io.stderr.isTTY ? setInterval(refresh, 1000) : undefined
  let isAway = false
  const pieces = new SpokenPieces()
  const onLost = () => {
    if (!isAway) note('the hub is away; the job goes on, waiting for the hub')
    isAway = true
  }
  try {
    const output = options.stdout !== null || options.stderr !== null
    for await (const event of client.events(id, { signal: options.signal, onLost, output })) {
      isAway = false
      if (event.event === 'end') return event.job
      if (event.event === 'job') noteChange(standing?.job ?? null, event.job, note)
      standing = standingOf(standing, io.now(), newsOf(event, output))
      show(event, screen, options, pieces)
      refresh()
    }
  } finally {
    clearInterval(ticking)
    screen.end()
  }
  throw new Error(`the events of job ${id} should close with its end, they closed without`)
}

/** The line of a job as it stands, at the moment and the width it is drawn. */
export function statusLine(standing: Standing, io: Io): (columns: number) => string {
  return columns => statusText(standing, io.now(), columns)
}

/** What the program says itself is newer than what the job carries of it. */
function newsOf(event: JobEvent, hasOutput: boolean): Parameters<typeof standingOf>[2] {
  if ('job' in event) return { job: hasOutput ? { ...event.job, progress: null } : event.job }
  if (event.event !== 'progress') return {}
  const { data } = event
  return { percent: numberOf(data.percent ?? data.progress), operation: textOf(data.operation ?? data.message) }
}

function show(event: JobEvent, screen: Screen, { stdout, stderr }: FollowJobOptions, pieces: SpokenPieces): void {
  if ('job' in event) return
  const { data } = event
  const out = data.stream === 'stderr' ? stderr : stdout
  if (out === null) return
  if (event.event === 'logs') showLog(data, out, screen)
  if (event.event === 'text_delta')
    screen.raw(out, pieces.add(textOf(data.delta ?? data.text ?? data.text_delta) ?? ''))
  if (event.event !== 'text') return
  const { rest, isNew } = pieces.close(textOf(data.content ?? data.text) ?? JSON.stringify(data))
  if (isNew) screen.line(out, rest)
  else screen.raw(out, `${rest}\n`)
}

/** Of a line that comes in parts, such as a progress bar, each is shown as it comes. */
function showLog(data: Readonly<Record<string, unknown>>, out: Out, screen: Screen): void {
  const text = textOf(data.log ?? data.message) ?? JSON.stringify(data)
  if (data.open === true) screen.part(out, text)
  else screen.line(out, text)
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

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

import type { Client } from '@stoker/client'
import type { Io } from '../io.ts'
import { statusLine } from './follow-job.ts'
import type { Screen } from './screen.ts'
import { type Standing, standingOf } from './status-line.ts'

/** Keeps a screen's status line as the job stands, until it ends or the returned function is called; needs a terminal. */
export function watchStanding(client: Pick<Client, 'events'>, id: string, io: Io, screen: Screen): () => void {
  if (!io.stderr.isTTY || io.config.isDumb) return () => {}
  const stopping = new AbortController()
  let standing: Standing | null = null
  const refresh = () => {
    if (standing !== null) screen.status(statusLine(standing, io))
  }
  const ticking = setInterval(refresh, 1000)
  const stop = () => {
    clearInterval(ticking)
    stopping.abort()
  }
  const follow = async () => {
    for await (const event of client.events(id, { signal: stopping.signal, output: false })) {
      if (!('job' in event)) continue
      standing = standingOf(standing, io.now(), { job: event.job })
      if (event.event === 'end') screen.status(() => '')
      else refresh()
    }
  }
  // The line is an extra: whatever is wrong is said by the command itself.
  void follow().catch(() => {})
  return stop
}

import { fileURLToPath } from 'node:url'
import { type Child, startChild } from '../processes/child.ts'

const SERVER = fileURLToPath(new URL('./sse-server.ts', import.meta.url))

export interface SsePeer extends Child {
  readonly url: string
  /** Told to all viewers. */
  say(line: string): Promise<void>
}

/** A server of events that does nothing else. */
export async function startSsePeer(): Promise<SsePeer> {
  const child = await startChild({
    name: 'the bare SSE server',
    command: process.execPath,
    args: ['--import', 'tsx', SERVER],
    ready: /^ready \d+$/,
  })
  const url = `http://127.0.0.1:${child.readyLine.split(' ')[1]}`
  return {
    ...child,
    url,
    async say(line) {
      await fetch(url, { method: 'POST', body: line })
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { PlainHttp } from './plain-http.ts'
import type { Hub } from './servers/stoker.ts'

const PAUSE_MS = 5

/** Submits single jobs as long as some work takes; answers what the work did and how long each submit was unanswered. */
export async function acksDuring<T>(
  { url, token }: Hub,
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly acksMs: readonly number[] }> {
  const http = new PlainHttp(url, token)
  const acksMs: number[] = []
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  try {
    while (!isOver) {
      const at = performance.now()
      await http.submit({ type: 'noop' })
      acksMs.push(performance.now() - at)
      await sleep(PAUSE_MS)
    }
    return { done: await working, acksMs }
  } finally {
    http.close()
  }
}

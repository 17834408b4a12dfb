import { Worker } from 'node:worker_threads'
import type { ThreadCalls, ThreadReply, ThreadRequest, ThreadRole, ThreadStart } from './thread-calls.ts'

type Args<R extends ThreadRole, K extends keyof ThreadCalls[R]> = ThreadCalls[R][K] extends (
  ...args: infer A
) => unknown
  ? A
  : never
type Answer<R extends ThreadRole, K extends keyof ThreadCalls[R]> = ThreadCalls[R][K] extends (
  ...args: never[]
) => infer V
  ? V
  : never

/** A thread with a connection of its own. When it dies, calls under way and later ones reject with the cause. */
export interface Thread<R extends ThreadRole> {
  call<K extends keyof ThreadCalls[R] & string>(name: K, ...args: Args<R, K>): Promise<Answer<R, K>>
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export function startThread<R extends ThreadRole>(start: ThreadStart & { readonly role: R }): Thread<R> {
  const worker = newWorker(start)
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let ended: Error | null = null

  const exited = new Promise<void>(resolve => {
    worker.once('exit', code => {
      fail(new Error(`the store's ${start.role} thread ended with code ${code}`))
      resolve()
    })
  })
  worker.on('error', cause => fail(new Error(`the store's ${start.role} thread failed: ${cause}`, { cause })))
  worker.on('message', (reply: ThreadReply) => {
    const caller = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('error' in reply) caller?.reject(withCode(reply.error, reply.sqliteCode))
    else caller?.resolve(reply.value)
  })

  function fail(error: Error): void {
    ended ??= error
    for (const caller of waiting.values()) caller.reject(ended)
    waiting.clear()
  }

  function call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    if (ended !== null) return Promise.reject(ended)
    const request: ThreadRequest = { id: ++lastId, call: name, args }
    return new Promise((resolve, reject) => {
      waiting.set(request.id, { resolve, reject })
      worker.postMessage(request)
    })
  }

  async function close(): Promise<void> {
    if (ended === null) worker.postMessage({ id: 0, call: null, args: [] } satisfies ThreadRequest)
    await exited
  }

  return { call: call as Thread<R>['call'], close }
}

/** In a bundle the thread's code lies beside ours; from source it needs a loader of TypeScript. */
function newWorker(start: ThreadStart): Worker {
  const entry = import.meta.url.endsWith('.ts') ? './sqlite-thread-from-source.mjs' : './sqlite-thread.js'
  return new Worker(new URL(entry, import.meta.url), { workerData: start, execArgv: [] })
}

function withCode(error: unknown, sqliteCode: number | null): unknown {
  return error instanceof Error && sqliteCode !== null ? Object.assign(error, { sqliteCode }) : error
}

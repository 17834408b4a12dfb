import { type Log, onParentGone } from '@stoker/files'
import type { Executor } from './executors/port.ts'
import type { Link } from './links/link.ts'
import { GRACE_MS } from './run/attempt-run.ts'
import type { Runner } from './run/runner.ts'

const TELL_MS = 5_000

export interface ShutDownPorts {
  readonly link: Link
  readonly runner: Runner
  readonly executor: Executor | null
  readonly log: Log
  readonly cleanUp: () => Promise<unknown>
  /** Ends the worker and leaves its programs to their keepers; null where nobody supervises it. */
  readonly leaveAlone: (() => Promise<void>) | null
}

/**
 * First signal: take nothing new, stop programs within their grace, tell the hub, leave. Second signal: the same without grace.
 * When its supervisor is gone it ends as if it had been killed, only in order.
 * A worker that is killed instead leaves its programs to their keepers and finds them again.
 */
export function shutDownOnSignals(ports: ShutDownPorts): void {
  const { link, runner, executor, log } = ports
  let isStopping = false
  const stop = async (reason: string): Promise<void> => {
    isStopping = true
    link.drain()
    if (runner.count > 0)
      log('info', `${reason}: stopping ${runner.count} jobs within ${GRACE_MS / 1000} s; once more to stop them now`)
    runner.stopAll({ cause: 'shutdown', text: 'its worker was shut down' })
    await runner.idle()
    await link.leave(reason, TELL_MS)
    await executor?.close('kill')
    await ports.cleanUp()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) runner.stopAll({ cause: 'shutdown', text: 'its worker was shut down at once' }, 0)
      else void stop(`got ${signal}`)
    })
  }
  const { leaveAlone } = ports
  if (leaveAlone === null) return
  onParentGone(() => {
    if (isStopping) return
    isStopping = true
    log('warn', 'whoever started it is gone: it ends too, programs go on under their keepers for five minutes')
    void leaveAlone()
  })
}

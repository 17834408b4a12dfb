import type { ChildProcess } from 'node:child_process'

/** For a child started `detached`: ends it with all it started; one that has ended is left alone, its pid may be another's. */
export function killGroup(child: ChildProcess): void {
  const hasEnded = child.exitCode !== null || child.signalCode !== null
  if (child.pid === undefined || hasEnded) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

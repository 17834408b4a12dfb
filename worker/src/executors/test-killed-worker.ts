import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LaunchOrder } from './port.ts'
import { PYTHON, type Workbench } from './workbench.ts'

const WORKER = fileURLToPath(new URL('./orphaning-worker.ts', import.meta.url))

/** Starts the orders in a process of their own, and SIGKILLs that process once they run. */
export async function startAndKillWorker(
  bench: Workbench,
  orders: readonly LaunchOrder[],
  idleMs = 60_000,
): Promise<void> {
  const options = { runtimeDir: bench.runtimeDir, python: PYTHON, slots: 4, idleMs }
  const child = spawn(process.execPath, ['--import', 'tsx', WORKER, JSON.stringify({ options, orders })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => {
      throw new Error('the worker ended by itself')
    }),
  ])
  child.kill('SIGKILL')
  await ended
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { mayStart, whileItLives } from './living.ts'

export interface ChildOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** The first line, of either stream, that means that it serves. */
  readonly ready: RegExp
  /** Told every line of both streams. */
  readonly onLine?: ((line: string) => void) | undefined
  /** All of its environment; ours if it is not given. */
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly as?: { readonly uid: number; readonly gid: number } | undefined
  readonly stopSignal?: NodeJS.Signals
}

/** A process of our own: known by its pid, and by nothing else. */
export interface Child {
  readonly pid: number
  readonly readyLine: string
  readonly ended: Promise<unknown>
  /** Asks it to stop and waits until it is gone; one that does not go is killed. Harmless when it is gone already. */
  stop(): Promise<void>
  kill(): Promise<void>
}

const READY_MS = 30_000
const STOP_MS = 15_000
const TAIL_LINES = 5

export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, ready, onLine, as, env, stopSignal = 'SIGTERM' } = options
  mayStart()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env, ...as })
  const tail: string[] = []
  const spoken = new Promise<string>(resolve => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', line => {
        onLine?.(line)
        tail.push(line)
        if (tail.length > TAIL_LINES) tail.shift()
        if (ready.test(line)) resolve(line)
      })
    }
  })
  const gone = once(child, 'exit')
  const failed = gone.then(([code, signal]) => {
    throw new Error(`${name} should serve, it ended with ${code ?? signal}: ${tail.join(' | ')}`)
  })
  const timer = new AbortController()
  const late = sleep(READY_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${name} should serve within ${READY_MS / 1000} s, it said: ${tail.join(' | ')}`)
  })
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return
    child.kill(signal)
    await Promise.race([gone, sleep(STOP_MS, undefined, { ref: false })])
    if (hasEnded()) return
    child.kill('SIGKILL')
    await gone
  }
  const stop = () => end(stopSignal)
  whileItLives({ stop, isCommand: false }, gone)
  try {
    const readyLine = await Promise.race([spoken, failed, late])
    if (child.pid === undefined) throw new Error(`${name} said it is ready, but has no pid`)
    return { pid: child.pid, readyLine, ended: gone, stop, kill: () => end('SIGKILL') }
  } catch (error) {
    await end('SIGKILL')
    throw error
  } finally {
    timer.abort()
    late.catch(() => {})
    failed.catch(() => {})
  }
}

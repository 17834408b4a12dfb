import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Progress } from '@stoker/protocol'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { programFile } from './program.ts'

export interface EnvWatch {
  /** What pip says. */
  readonly onWords: (text: string) => void
  readonly onProgress: (progress: Progress) => void
}

/** Runs the program that looks after the environments of this machine, and gives what came of it. */
export async function runEnv(io: Io, args: readonly string[], { onWords, onProgress }: EnvWatch): Promise<unknown> {
  const child = spawn(process.execPath, [programFile(io.programs, 'environments'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: io.folder,
    detached: true,
  })
  const release = io.onStop(() => child.kill('SIGTERM'))
  let said: { readonly result?: unknown; readonly error?: string } = {}
  child.stderr.setEncoding('utf8').on('data', onWords)
  createInterface({ input: child.stdout }).on('line', line => {
    const value = JSON.parse(line) as { progress?: Progress; result?: unknown; error?: string }
    if (value.progress === undefined) said = value
    else onProgress(value.progress)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(release)
  if (code === 0 && said.result !== undefined) return said.result
  const [first = `it ended with ${code}`, ...details] = (said.error ?? '').split('\n').filter(line => line !== '')
  throw new Failure(first, { exitCode: /is neither a file/.test(first) ? EXIT.notFound : EXIT.error, details })
}

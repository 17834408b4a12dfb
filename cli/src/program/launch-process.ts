import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Launcher, LaunchWish, Running } from './launch.ts'
import { titleOf } from './mistake.ts'
import type { RunEnd } from './observation.ts'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Gives the program a terminal for its output; ends with its code. */
const WITH_TERMINAL =
  'import os,pty,sys; code=pty.spawn(sys.argv[1:]); sys.exit(os.WEXITSTATUS(code) if os.WIFEXITED(code) else 1)'

export interface ProcessWish {
  readonly words: readonly string[]
  readonly folder: string
  readonly modelPath: string
  /** What a program inherits of this machine. */
  readonly inherited: Readonly<Record<string, string>>
}

export function processLauncher({ words, folder, modelPath, inherited }: ProcessWish): Launcher {
  return {
    title: titleOf(words),
    modelPath,
    async start(wish) {
      const argv = wish.terminal ? ['python3', '-c', WITH_TERMINAL, ...words] : words
      const [program = '', ...args] = argv
      const env = { ...inherited, ...wish.env }
      const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
      await started(child, program)
      return running(child, wish)
    },
  }
}

function started(child: Child, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', cause => {
      const code = 'code' in cause ? cause.code : ''
      const why =
        code === 'ENOENT' ? 'there is no such program' : code === 'EACCES' ? 'it may not be run' : cause.message
      reject(
        new Failure(`${program} does not start: ${why}`, { exitCode: EXIT.notFound, code: 'program.not_found', cause }),
      )
    })
  })
}

/** A program that closed its stdin is not told more; that is its right. */
function running(child: Child, { onBytes }: LaunchWish): Running {
  child.stdin.on('error', () => {})
  child.stdout.on('data', (bytes: Buffer) => onBytes('stdout', bytes))
  child.stderr.on('data', (bytes: Buffer) => onBytes('stderr', bytes))
  const group = child.pid
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    if (group !== undefined) signalGroup(group, name)
  }
  child.on('exit', () => signal('SIGKILL'))
  return {
    ended: new Promise<RunEnd>(resolve => {
      child.on('close', (exitCode, name) => resolve({ exitCode, signal: name, isOutOfMemory: false }))
    }),
    write: line => void child.stdin.write(line),
    endInput: () => void child.stdin.end(),
    signal: how => signal(how === 'end' ? 'SIGTERM' : 'SIGKILL'),
  }
}

/** Its children are in its group; a group that is gone needs no signal. */
function signalGroup(group: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error
  }
}

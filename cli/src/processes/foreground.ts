import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Io } from '../io.ts'
import { nodeFlags } from './node-flags.ts'
import { type ProgramName, programFile } from './program.ts'

/** Runs a program with this terminal and gives its exit code; its output is its own. */
export function runInForeground(io: Io, name: ProgramName, args: readonly string[]): Promise<number> {
  const file = programFile(io.programs, name)
  const child = spawn(process.execPath, [...nodeFlags(file), file, ...args], { stdio: 'inherit', detached: true })
  const release = io.onStop(() => child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      release()
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
    })
  })
}

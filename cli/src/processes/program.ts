import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { environmentWith } from '../config.ts'
import { Failure } from '../failure.ts'
import { nodeEnv, nodeFlags } from './node-flags.ts'

export type ProgramName = 'hub' | 'worker' | 'sim' | 'doctor' | 'environments'

interface ProgramEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** A started hub or worker: `ready` is what it said of itself, or the reason why it ended before. */
export interface Program {
  readonly ready: Promise<Readonly<Record<string, unknown>>>
  readonly ended: Promise<ProgramEnd>
  readonly kill: (signal: 'SIGTERM') => void
  readonly lastWords: () => string
}

const KEPT_LINES = 5

/** The file of a program beside this one; says what to do when it is not there. */
export function programFile(programs: string, name: ProgramName): string {
  const file = join(programs, `${name}.js`)
  if (existsSync(file)) return file
  throw new Failure(`${file} should be there, it is not; run npm run build in the repository`)
}

/**
 * Starts it in a process group of its own, so that Ctrl-C reaches it only through us, once.
 * It holds our end of its stdin as a sign of life: killed, we take it along.
 */
export function startProgram(
  file: string,
  args: readonly string[],
  log: (line: string) => void,
  secrets: Readonly<Record<string, string>> = {},
): Program {
  const env = { ...environmentWith(secrets), ...nodeEnv(file, process.env) }
  const child = spawn(process.execPath, [...nodeFlags(file), file, ...args, '--supervised'], {
    stdio: 'pipe',
    detached: true,
    env,
  })
  child.stdin.on('error', () => {})
  const last: string[] = []
  const words = createInterface({ input: child.stderr })
  words.on('line', line => {
    log(line)
    last.push(line)
    if (last.length > KEPT_LINES) last.shift()
  })
  const lastWords = () => last.join('\n')
  const ended = endOf(child)
  const ready = readyOf(child, ended, log, lastWords)
  ready.catch(() => {})
  return { ready, ended, lastWords, kill: signal => void child.kill(signal) }
}

/** For a program whose words the person has already seen: they are not said twice. */
export async function readyOr(program: Program, sentence: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await program.ready
  } catch (cause) {
    throw program.lastWords() === '' ? cause : new Failure(sentence, { cause })
  }
}

function endOf(child: ChildProcess): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
}

async function readyOf(
  child: ChildProcess,
  ended: Promise<ProgramEnd>,
  log: (line: string) => void,
  lastWords: () => string,
): Promise<Readonly<Record<string, unknown>>> {
  const said = new Promise<Readonly<Record<string, unknown>>>(resolve => {
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', line => {
      const value = tryJson(line)
      if (value?.ready === true) resolve(value)
      else log(line)
    })
  })
  const tooEarly = ended.then(({ code, signal }) => {
    throw new Failure(withoutName(lastWords()) || `it should say that it is ready, it ended with ${signal ?? code}`)
  })
  return Promise.race([said, tooEarly])
}

/** The programs start their lines with their own name; in our sentence it would stand twice. */
function withoutName(words: string): string {
  return words.replace(/^stoker (hub|worker): /gm, '')
}

function tryJson(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

import { spawn } from 'node:child_process'
import { killGroup } from './child-group.ts'

/** Far above what a probe prints; a tool that floods is cut off instead of filling memory. */
const MAX_CHARACTERS = 256 * 1024

/** What one run of a tool gave; `problem` is null only after exit code 0. */
export interface ToolRun {
  readonly stdout: string
  readonly problem: { readonly kind: 'absent' | 'silent' | 'failed'; readonly text: string } | null
}

/** Never rejects and never waits past the limit: a driver tool can hang where no signal reaches it. */
export function runTool(
  file: string,
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly env?: NodeJS.ProcessEnv | undefined },
): Promise<ToolRun> {
  return new Promise(resolve => {
    // Without free file descriptors a child has no streams, whatever its type says.
    const child = spawn(file, args, { env: options.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    const end = (problem: ToolRun['problem']) => {
      clearTimeout(timer)
      killGroup(child)
      for (const stream of [child.stdout, child.stderr]) stream?.destroy()
      child.unref()
      resolve({ stdout, problem })
    }
    const timer = setTimeout(() => end(silent(file, options.timeoutMs)), options.timeoutMs)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (stdout.length > MAX_CHARACTERS) end(failed(`${file} printed more than ${MAX_CHARACTERS} characters`))
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, 2_000)
    })
    child.on('error', error => end(notStarted(file, error)))
    child.on('close', (code, signal) => end(code === 0 ? null : failed(ending(file, code ?? signal, stderr || stdout))))
  })
}

function notStarted(file: string, error: Error): ToolRun['problem'] {
  const isAbsent = 'code' in error && error.code === 'ENOENT'
  return isAbsent
    ? { kind: 'absent', text: `${file} is not installed` }
    : failed(`${file} could not be started: ${error.message}`)
}

function silent(file: string, timeoutMs: number): ToolRun['problem'] {
  return { kind: 'silent', text: `${file} gave no answer within ${timeoutMs} ms` }
}

function failed(text: string): ToolRun['problem'] {
  return { kind: 'failed', text }
}

function ending(file: string, end: number | string | null, said: string): string {
  const line = said.trim().split('\n')[0] ?? ''
  return `${file} ended with ${end}${line === '' ? '' : `: ${line}`}`
}

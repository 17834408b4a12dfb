import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

/** Compiles a program of this package into a folder, so that tests can run it as real processes that start quickly. */
export async function compileProgram(folder: string, source: string): Promise<string> {
  const program = join(folder, 'program.mjs')
  const { outputFiles } = buildSync({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  })
  await writeFile(program, outputFiles[0]?.contents ?? '')
  return program
}

/** Runs a compiled program; `said(text)` waits for its output to hold the text, `ended` for its exit. */
export function runProgram(program: string, args: readonly string[], options: { uid?: number } = {}) {
  const child = spawn(process.execPath, [program, ...args], { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }))
  const said = async (text: string): Promise<string> => {
    while (!output.includes(text)) await nextOutput(child, text)
    return output
  }
  return { child, ended, said }
}

function nextOutput(child: ChildProcess, wanted: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('close', code => reject(new Error(`the program should print "${wanted}", it ended with ${code}`)))
  })
}

import { realpath } from 'node:fs/promises'
import type { Hardware } from '@stoker/protocol'
import { runTool } from './run-tool.ts'

/** One interpreter as it names itself, so a version manager's shim never ends up in a command line. */
export type Python = Hardware['pythons'][number]

/** A cold interpreter on a slow disk needs seconds; a shim that asks the network needs for ever. */
const TIMEOUT_MS = 10_000
const NAMES = ['python3', '/usr/bin/python3', ...[14, 13, 12, 11, 10, 9].map(minor => `python3.${minor}`)]
const SCRIPT = 'import sys; print(sys.executable, ".".join(map(str, sys.version_info[:3])), sys.prefix, sep="\\n")'

/** The one `python3` starts comes first; none is a valid answer. */
export async function findPythons(
  options: { readonly env?: NodeJS.ProcessEnv | undefined; readonly timeoutMs?: number | undefined } = {},
): Promise<Python[]> {
  const answers = await Promise.all(NAMES.map(name => askPython(name, options.timeoutMs ?? TIMEOUT_MS, options.env)))
  const found = new Map<string, Python>()
  for (const python of answers.filter(answer => answer !== null)) {
    const key = `${python.prefix}\n${await realpath(python.path).catch(() => python.path)}`
    if (!found.has(key)) found.set(key, python)
  }
  return [...found.values()]
}

async function askPython(name: string, timeoutMs: number, env: NodeJS.ProcessEnv | undefined): Promise<Python | null> {
  const { stdout, problem } = await runTool(name, ['-I', '-c', SCRIPT], { timeoutMs, env })
  const [path, version, prefix] = stdout.trimEnd().split('\n')
  return problem === null && path?.startsWith('/') && version && prefix ? { path, version, prefix } : null
}

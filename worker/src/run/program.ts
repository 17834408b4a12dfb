import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { guardedFetch } from '@stoker/net'
import type { CustomScriptInput, JobSpec } from '@stoker/protocol'

const MAX_SCRIPT_BYTES = 16 * 1024 * 1024
const FETCH_MS = 60_000

/** The words that start the program; a script is put into the work folder first. */
export async function programArgv(
  spec: JobSpec,
  workFolder: string,
  python: string | null,
): Promise<readonly string[]> {
  if (spec.container !== null && spec.type === 'command' && spec.command === null) return []
  if (spec.command !== null) return typeof spec.command === 'string' ? ['/bin/sh', '-c', spec.command] : spec.command
  const input = spec.input as CustomScriptInput
  const interpreter = input.interpreter ?? (spec.container === null ? python : 'python3')
  if (interpreter === null) throw new Error('the script needs Python, this worker has none')
  const name = input.interpreter === undefined || /python/.test(input.interpreter) ? 'script.py' : 'script'
  await writeFile(join(workFolder, name), await scriptOf(input))
  return [interpreter, spec.container === null ? name : `/work/${name}`, ...(input.args ?? [])]
}

async function scriptOf({ script, scriptUrl }: CustomScriptInput): Promise<string | Uint8Array> {
  if (script !== undefined) return script
  const fetched = await guardedFetch(scriptUrl ?? '', { maxBytes: MAX_SCRIPT_BYTES, timeoutMs: FETCH_MS })
  return fetched.bytes
}

import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { guardedFetch } from '@stoker/net'
import type { CustomScriptInput, JobSpec } from '@stoker/protocol'

const MAX_SCRIPT_BYTES = 16 * 1024 * 1024
const FETCH_MS = 60_000
/** Where a container finds the programs of all types. */
export const PROGRAMS_TARGET = '/stoker/jobs'
const IMAGE_PYTHON = 'python3'

export interface ProgramPlace {
  readonly workFolder: string
  /** Of this machine; an image has its own. */
  readonly python: string | null
  /** Of the job's type, if that has a program. */
  readonly programFolder: string | null
}

/** The words that start the program; a script is put into the work folder first. */
export async function programArgv(spec: JobSpec, place: ProgramPlace): Promise<readonly string[]> {
  const { workFolder, programFolder } = place
  if (programFolder !== null) return [pythonOf(spec, place), mainOf(spec, programFolder)]
  if (spec.container !== null && spec.type === 'command' && spec.command === null) return []
  if (spec.command !== null) return typeof spec.command === 'string' ? ['/bin/sh', '-c', spec.command] : spec.command
  const input = spec.input as CustomScriptInput
  const interpreter = input.interpreter ?? pythonOf(spec, place)
  const name = input.interpreter === undefined || /python/.test(input.interpreter) ? 'script.py' : 'script'
  await writeFile(join(workFolder, name), await scriptOf(input))
  return [interpreter, spec.container === null ? name : `/work/${name}`, ...(input.args ?? [])]
}

function pythonOf({ container }: JobSpec, { python }: ProgramPlace): string {
  if (container !== null) return IMAGE_PYTHON
  if (python === null) throw new Error('the script needs Python, this worker has none')
  return python
}

function mainOf({ container }: JobSpec, programFolder: string): string {
  return join(container === null ? programFolder : join(PROGRAMS_TARGET, basename(programFolder)), 'main.py')
}

async function scriptOf({ script, scriptUrl }: CustomScriptInput): Promise<string | Uint8Array> {
  if (script !== undefined) return script
  const fetched = await guardedFetch(scriptUrl ?? '', { maxBytes: MAX_SCRIPT_BYTES, timeoutMs: FETCH_MS })
  return fetched.bytes
}

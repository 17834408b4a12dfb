import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter } from 'node:path'
import type { House } from './house.ts'

/**
 * The environment of a worker that is told of devices which are not there: it proves who is given which, nothing else.
 * Nobody else uses them and nothing is wrong with them; asked for samples the stand-in goes on as the real tool does,
 * saying nothing. `engineTools` is where a container engine has its own stand-in for the GPU runtime.
 */
export async function standInGpus(
  house: House,
  uuids: readonly string[],
  engineTools?: string,
): Promise<Record<string, string>> {
  const lines = uuids.map((uuid, i) => `echo "${i}, ${uuid}, Stand-in, 24576, 550.1"`)
  const script = [
    '#!/bin/sh',
    'case "$*" in',
    '*-lms*) exec sleep 1000 ;;',
    '*driver_version*) ;;',
    '*) exit ;;',
    'esac',
  ]
  await mkdir(house.path('tools'))
  await writeFile(house.path('tools', 'nvidia-smi'), [...script, ...lines, ''].join('\n'), { mode: 0o755 })
  const tools = [house.path('tools'), engineTools, process.env.PATH].filter(part => part !== undefined)
  return { PATH: tools.join(delimiter) }
}

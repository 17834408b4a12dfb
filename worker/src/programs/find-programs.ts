import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readJsonOr } from '@stoker/files'
import { normalRequirements, PROGRAM_TYPES, ProgramManifest, type ProgramType } from '@stoker/protocol'

/** A program that comes with the worker. */
export interface Program {
  readonly type: ProgramType
  /** Of its `main.py`. */
  readonly folder: string
  readonly manifest: ProgramManifest
  /** Empty when it needs nothing but Python. */
  readonly requirements: string
}

export type Programs = ReadonlyMap<string, Program>

/** The folder of a type is named as a Python package could be. */
export function programFolder(root: string, type: ProgramType): string {
  return join(root, type.replaceAll('-', '_'))
}

/** Types that have a program in the folder; one whose manifest is wrong is told, and left out. */
export async function findPrograms(root: string, complain: (text: string) => void): Promise<Programs> {
  const found = new Map<string, Program>()
  for (const type of PROGRAM_TYPES) {
    const folder = programFolder(root, type)
    const isThere = await stat(join(folder, 'main.py')).then(
      entry => entry.isFile(),
      () => false,
    )
    if (!isThere) continue
    const manifest = ProgramManifest.safeParse(await readJsonOr(join(folder, 'program.json'), null).catch(() => null))
    if (!manifest.success || manifest.data.type !== type) complain(`${folder}/program.json does not describe ${type}`)
    else {
      const requirements = await readFile(join(folder, 'requirements.txt'), 'utf8').catch(() => '')
      found.set(type, { type, folder, manifest: manifest.data, requirements: normalRequirements(requirements) })
    }
  }
  return found
}

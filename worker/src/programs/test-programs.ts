import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramType } from '@stoker/protocol'
import { programFolder } from './find-programs.ts'

interface SmallProgram {
  readonly main: string
  readonly requirements?: string
  readonly needs?: object
}

/** Writes the folder of a small program type below a folder of programs. */
export async function writeProgram(
  root: string,
  type: ProgramType,
  { main, requirements = '', ...manifest }: SmallProgram,
): Promise<string> {
  const folder = programFolder(root, type)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'main.py'), main)
  await writeFile(join(folder, 'requirements.txt'), requirements)
  await writeFile(join(folder, 'program.json'), JSON.stringify({ type, title: type, inputs: {}, ...manifest }))
  return folder
}

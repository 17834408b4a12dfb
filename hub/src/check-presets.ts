import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '@stoker/files'
import type { PresetCheck } from '@stoker/protocol'
import type { PresetOptions } from './config.ts'
import { FILE_NAMES, type FileTexts, loadPresets } from './presets/load-presets.ts'
import { seeFile } from './presets/see-file.ts'
import type { ProgramBook } from './programs/program-book.ts'

/** Reads a folder of presets as a hub would and prints what is wrong, one place a line; true if nothing is. */
export async function checkPresets(
  options: PresetOptions,
  programs: ProgramBook,
  form: 'human' | 'json' | 'quiet',
  write: (text: string) => unknown = text => process.stdout.write(text),
): Promise<boolean> {
  const { folder } = options
  await refuseWithoutFiles(folder)
  const texts = await Promise.all(
    FILE_NAMES.map(async name => [name, (await seeFile(join(folder, name), undefined, 0)).text] as const),
  )
  const { book } = loadPresets(
    Object.fromEntries(texts) as FileTexts,
    {},
    {
      ...options,
      check: spec => programs.check(spec),
    },
  )
  const found = { folder, presets: [...book.presets.keys()], errors: [...book.errors] }
  write(form === 'json' ? `${JSON.stringify(found)}\n` : lines(found, form === 'quiet'))
  return found.errors.length === 0
}

async function refuseWithoutFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch(error => {
    throw hasCode(error, 'ENOENT', 'ENOTDIR') ? new Error(`${folder} is no folder`) : error
  })
  if (!FILE_NAMES.some(name => names.includes(name)))
    throw new Error(`${folder} holds no presets: none of ${FILE_NAMES.join(', ')} is in it`)
}

function lines({ folder, presets, errors }: PresetCheck, isQuiet: boolean): string {
  const places = errors.map(({ file, line, column, message }) => `${join(folder, file)}:${line}:${column}: ${message}`)
  const count = `${presets.length} ${presets.length === 1 ? 'preset' : 'presets'}`
  const verdict =
    errors.length === 0 ? `${count}: ${presets.join(', ')}` : `${errors.length} wrong, ${count} would be in force`
  return [...places, ...(isQuiet ? [] : [verdict])].map(line => `${line}\n`).join('')
}

import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { unlessAbsent } from '@stoker/files'
import type { JobSpecInput } from '@stoker/protocol'

/** A file of the person's folder that a program was given by name, though nothing was sent along. */
export async function unsentFile({ command, files = [], image }: JobSpecInput, folder: string): Promise<string | null> {
  if (!Array.isArray(command) || files.length > 0 || image !== undefined) return null
  for (const word of command) if (word !== '' && !isAbsolute(word) && (await isFile(resolve(folder, word)))) return word
  return null
}

async function isFile(path: string): Promise<boolean> {
  return (await unlessAbsent(stat(path)).catch(() => null))?.isFile() === true
}

import { readFile } from 'node:fs/promises'
import { unlessAbsent } from './absent.ts'

/** Only a missing file gives the fallback: a damaged one is an error, so it is never silently replaced by a default. */
export async function readJsonOr(path: string, fallback: unknown): Promise<unknown> {
  const text = await unlessAbsent(readFile(path, 'utf8'))
  if (text === null) return fallback
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path} should hold JSON, its ${text.length} characters do not parse as such`, { cause })
  }
}

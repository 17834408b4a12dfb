import { readFile, stat } from 'node:fs/promises'
import { unlessAbsent } from '@stoker/files'
import type { FileText } from './load-presets.ts'
import { MAX_FILE_BYTES } from './yaml-file.ts'

/** Some editors move the old file away before the new one is there: only a file that stays away is gone. */
const GONE_MS = 1000
/** File times are as coarse as this: what was written so shortly before it was read may change without a trace. */
const COARSE_MS = 100

/** A file as it was found; `mark` tells another version, and is empty where that cannot be told. */
export interface SeenFile {
  readonly mark: string
  readonly text: FileText
  readonly absentSince: number | null
}

/** Reads a file unless it is still what it was `before`. */
export async function seeFile(path: string, before: SeenFile | undefined, now: number): Promise<SeenFile> {
  try {
    const facts = await unlessAbsent(stat(path))
    if (facts === null) return away(before, now)
    if (!facts.isFile()) return unreadable('it is no file')
    if (facts.size > MAX_FILE_BYTES) return unreadable(`it has ${facts.size} bytes, at most ${MAX_FILE_BYTES} are read`)
    const isFresh = now - facts.mtimeMs < COARSE_MS
    const mark = isFresh ? '' : `${facts.ino} ${facts.size} ${facts.mtimeMs} ${facts.ctimeMs}`
    if (mark !== '' && mark === before?.mark) return before
    const text = await unlessAbsent(readFile(path, 'utf8'))
    return text === null ? away(before, now) : { mark, text, absentSince: null }
  } catch (error) {
    return unreadable(`it cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function unreadable(why: string): SeenFile {
  return { mark: '', text: { unreadable: why }, absentSince: null }
}

function away(before: SeenFile | undefined, now: number): SeenFile {
  const absentSince = before?.absentSince ?? now
  const isGone = before === undefined || now - absentSince >= GONE_MS
  return { mark: '', text: isGone ? null : before.text, absentSince }
}

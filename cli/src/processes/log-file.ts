import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const MAX_BYTES = 10_000_000

/** Appends lines to a file; what is too long at the start moves aside, so that two files at most are kept. */
export function openLogFile(file: string): (line: string) => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_BYTES) renameSync(file, `${file}.old`)
  return line => appendFileSync(file, `${line}\n`, { mode: 0o600 })
}

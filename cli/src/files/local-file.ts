import { basename, isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'

/** A folder or file of this machine and where it goes in the folder of the job; `.` is that folder itself. */
export interface LocalFile {
  readonly from: string
  readonly to: string
  readonly unpack?: string | undefined
  /** How the person wrote it. */
  readonly written: string
}

const KEYS: readonly string[] = ['from', 'to', 'unpack']

/** `PATH[:DEST]` of the command line; a path that has a colon itself is written with a DEST. */
export function parseFileOption(text: string, folder: string): LocalFile {
  const at = text.lastIndexOf(':')
  const [from, to] = at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, undefined]
  if (from === '' || to === '') throw usage(`--files is PATH or PATH:DEST, found ${JSON.stringify(text)}`)
  return localFile(from, to, folder, text)
}

/** An entry of `files` in a job file, if it names something of this machine; null for content the hub has. */
export function parseFileEntry(entry: unknown, folder: string): LocalFile | null {
  if (typeof entry === 'string') return localFile(entry, undefined, folder, entry)
  if (typeof entry !== 'object' || entry === null || !('from' in entry)) return null
  const { from, to, unpack } = entry as Readonly<Record<string, unknown>>
  const unknown = Object.keys(entry).filter(key => !KEYS.includes(key))
  if (typeof from !== 'string' || from === '' || !isText(to) || !isText(unpack) || unknown.length > 0)
    throw usage(`a local file is a path or {from, to, unpack}, found ${JSON.stringify(entry).slice(0, 200)}`)
  return { ...localFile(from, to, folder, from), unpack }
}

/** Without a DEST, what lies below the folder keeps its place, and what comes from elsewhere its last name. */
function localFile(from: string, to: string | undefined, folder: string, written: string): LocalFile {
  const full = resolve(folder, from)
  const inner = relative(folder, full)
  const isOutside = isAbsolute(inner) || inner === '..' || inner.startsWith(`..${sep}`)
  const place = to ?? (isOutside ? basename(full) : inner.split(sep).join('/'))
  const isFolder = place.endsWith('/')
  const clean = posix.normalize(place === '' ? '.' : place).replace(/\/$/, '')
  return { from: full, to: isFolder && clean === '' ? '.' : clean, written }
}

/** The place of a single file: a DEST that is a folder holds it under its own name. */
export function fileTarget({ from, to }: LocalFile): string {
  return to === '.' ? basename(from) : to
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function usage(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage, code: 'files.invalid' })
}

/** Where a job's outputs go when nobody says. */
export function outputsFolder(folder: string, shortId: string): string {
  return join(folder, 'stoker-outputs', shortId)
}

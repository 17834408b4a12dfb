import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { unlessAbsent } from '../absent.ts'
import { ArchiveRefused } from './archive-refused.ts'
import { staysInside } from './entry-name.ts'

const IGNORE_FILES = ['.gitignore', '.stokerignore']

export type FolderEntry =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'file'; readonly path: string; readonly size: number; readonly executable: boolean }

interface Rules {
  /** Where the rules stand, '' or ending with a slash. */
  readonly base: string
  readonly ignore: Ignore
}

/** Whether something of that name, the last part of its path, stays behind wherever it lies. */
export type LeavesOut = (name: string) => boolean

/** What of a folder is packed, in the order of its bytes: without .git, what is left out by name, and what .gitignore and .stokerignore of any level name. */
export async function listFolder(root: string, leavesOut: LeavesOut = () => false): Promise<readonly FolderEntry[]> {
  const found: FolderEntry[] = []
  await list(root, '', [], found, name => name === '.git' || leavesOut(name))
  return found.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
}

async function list(
  root: string,
  base: string,
  outer: readonly Rules[],
  found: FolderEntry[],
  leavesOut: LeavesOut,
): Promise<void> {
  const entries = await readdir(join(root, base), { withFileTypes: true })
  const rules = [...outer, ...(await rulesOf(root, base, entries))]
  for (const entry of entries) {
    const path = base + entry.name
    if (leavesOut(entry.name) || isIgnored(path, entry.isDirectory(), rules)) continue
    if (entry.isDirectory()) {
      found.push({ kind: 'folder', path })
      await list(root, `${path}/`, rules, found, leavesOut)
    } else found.push(await entryOf(root, path))
  }
}

async function rulesOf(root: string, base: string, entries: readonly Dirent[]): Promise<Rules[]> {
  const names = IGNORE_FILES.filter(name => entries.some(entry => entry.name === name && entry.isFile()))
  if (names.length === 0) return []
  const texts = await Promise.all(names.map(name => readFile(join(root, base, name), 'utf8')))
  return [{ base, ignore: ignore().add(texts.join('\n')) }]
}

/** The innermost rules that say anything decide, as in git. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { base, ignore: rule } of rules.toReversed()) {
    const result = rule.test(path.slice(base.length) + (isFolder ? '/' : ''))
    if (result.ignored || result.unignored) return result.ignored
  }
  return false
}

async function entryOf(root: string, path: string): Promise<FolderEntry> {
  const stat = await unlessAbsent(lstat(join(root, path)))
  if (stat === null) throw new ArchiveRefused(`${JSON.stringify(path)} was there and vanished while it was packed`)
  if (stat.isFile()) return { kind: 'file', path, size: stat.size, executable: (stat.mode & 0o111) !== 0 }
  if (!stat.isSymbolicLink())
    throw new ArchiveRefused(
      `${JSON.stringify(path)} is a ${kindOf(stat)}, only files, folders and links can be sent; name it in .stokerignore to leave it out`,
    )
  const target = await readlink(join(root, path))
  if (staysInside(path, target)) return { kind: 'link', path, target }
  throw new ArchiveRefused(
    `${JSON.stringify(path)} links to ${JSON.stringify(target)}, which is not below the folder that is sent; name it in .stokerignore to leave it out`,
  )
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return 'socket'
  return stat.isFIFO() ? 'named pipe' : 'device'
}

import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { unlessAbsent } from './absent.ts'

export interface MatchedOutputs {
  /** Sorted by their bytes, at most as many as were asked for. */
  readonly paths: readonly string[]
  /** How many there are in truth. */
  readonly count: number
  /** Patterns no file matches. */
  readonly unmatched: readonly string[]
}

/**
 * Regular files below a folder that match; links are neither followed nor taken, hidden names only where a pattern names
 * them, and a pattern without wildcards that names a folder means all of it. Nobody may write there meanwhile.
 */
export async function matchOutputs(folder: string, globs: readonly string[], max: number): Promise<MatchedOutputs> {
  const patterns = globs.map(glob => ({ glob, isMatch: matcherOf(glob) }))
  const found = new Set<string>()
  const unmatched = new Set(globs)
  let count = 0
  for (const base of basesOf(globs)) {
    for await (const path of filesBelow(folder, base)) {
      const matching = patterns.filter(pattern => pattern.isMatch(path))
      if (matching.length === 0) continue
      for (const { glob } of matching) unmatched.delete(glob)
      count += 1
      if (found.size < max) found.add(path)
    }
  }
  return { paths: sorted(found), count, unmatched: [...unmatched] }
}

/** The same choice among paths that someone else saw. */
export function pickOutputs(seen: readonly string[], globs: readonly string[], max: number): MatchedOutputs {
  const patterns = globs.map(glob => ({ glob, isMatch: matcherOf(glob) }))
  const found = seen.filter(path => patterns.some(({ isMatch }) => isMatch(path)))
  const unmatched = patterns.filter(({ isMatch }) => !found.some(path => isMatch(path))).map(({ glob }) => glob)
  return { paths: sorted(found).slice(0, max), count: found.length, unmatched }
}

function sorted(paths: Iterable<string>): string[] {
  return [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function matcherOf(glob: string): (path: string) => boolean {
  const pattern = glob.replace(/^(\.\/)+/, '').replace(/\/+$/, '')
  if (picomatch.scan(pattern).isGlob) return picomatch(pattern)
  const inside = picomatch(`${pattern}/**`)
  return path => path === pattern || inside(path)
}

/** The folders that have to be looked through, none of them below another. */
function basesOf(globs: readonly string[]): readonly string[] {
  const bases = globs.map(glob => {
    const { base, isGlob } = picomatch.scan(glob.replace(/^(\.\/)+/, '').replace(/\/+$/, ''))
    return isGlob ? base : base.split('/').slice(0, -1).join('/')
  })
  const sorted = [...new Set(bases.map(base => (base === '' || base === '.' ? '' : `${base}/`)))].sort()
  return sorted.filter((base, i) => !sorted.slice(0, i).some(outer => base.startsWith(outer)))
}

async function* filesBelow(root: string, base: string): AsyncGenerator<string> {
  if (base !== '' && !(await isRealFolder(root, base))) return
  const waiting = [base]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for await (const entry of await opendir(join(root, at))) {
      if (entry.isDirectory()) waiting.push(`${at}${entry.name}/`)
      else if (entry.isFile()) yield at + entry.name
    }
  }
}

/** Looked at from the root down, so that no link on the way is followed. */
async function isRealFolder(root: string, base: string): Promise<boolean> {
  let at = root
  for (const part of base.split('/').filter(name => name !== '')) {
    at = join(at, part)
    if ((await unlessAbsent(lstat(at)))?.isDirectory() !== true) return false
  }
  return true
}

import { isInnerPath } from '../artifact.ts'
import type { SpecIssue } from '../spec-issues.ts'

const MAX_DEPTH = 5
const INCLUDE = /^(?:-r|--requirement)[\s=]*(\S+)$/
/** The environment is made apart from the project, so nothing of its folder can be named there. */
const LOCAL = /^(-e\b|--editable\b|-c\b|--constraint\b|\.{0,2}\/|file:|\.$)/

export type Requirements =
  | { readonly ok: true; readonly lines: readonly string[] }
  | { readonly ok: false; readonly issues: readonly SpecIssue[] }

/** What a requirements file asks for, with the files it includes put in their places, and without what says nothing; `read` gives null for a file that is not there. */
export function gatherRequirements(file: string, read: (path: string) => string | null): Requirements {
  const issues: SpecIssue[] = []
  const lines = gather(file, read, issues, [])
  return issues.length > 0 ? { ok: false, issues } : { ok: true, lines }
}

/** The files it may include: what has to be at hand before it is gathered. */
export function includedFiles(file: string, text: string): readonly string[] {
  return linesOf(text).flatMap(line => {
    const path = INCLUDE.exec(line)?.[1]
    return path === undefined ? [] : (below(file, path) ?? [])
  })
}

function gather(
  file: string,
  read: (path: string) => string | null,
  issues: SpecIssue[],
  above: readonly string[],
): readonly string[] {
  const text = read(file)
  if (text === null) {
    const wanted = above.at(-1)
    const message = wanted === undefined ? 'the project has no such file' : `${wanted} includes it, it is not there`
    issues.push({ path: file, message })
    return []
  }
  if (above.includes(file) || above.length >= MAX_DEPTH) {
    issues.push({ path: file, message: `is included by ${above.join(', ')}; they lead in a circle or too deep` })
    return []
  }
  return linesOf(text).flatMap(line => {
    const path = INCLUDE.exec(line)?.[1]
    if (path !== undefined) return gather(below(file, path) ?? path, read, issues, [...above, file])
    if (!LOCAL.test(line)) return line
    issues.push({
      path: file,
      message: `found ${JSON.stringify(line.slice(0, 100))}; packages are installed apart from the project, so only what an index has can be named`,
    })
    return []
  })
}

function linesOf(text: string): readonly string[] {
  const joined = text.replaceAll(/\\\r?\n/g, ' ')
  return joined.split(/\r?\n/).flatMap(line => line.replace(/(^|\s)#.*$/, '').trim() || [])
}

function below(file: string, path: string): string | null {
  const folder = file.includes('/') ? `${file.slice(0, file.lastIndexOf('/'))}/` : ''
  const whole = `${folder}${path.replace(/^(\.\/)+/, '')}`
  return isInnerPath(whole) ? whole : null
}

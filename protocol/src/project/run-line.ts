import type { ProjectProgram } from './project.ts'

/** What only a shell can do with a line. */
const SHELL_SIGNS = /[|&;<>()$`\\*?[\]{}~#\n]/
const SCRIPT = /^[^\s'"]+\.py$/

/** `x.py`, or `python x.py …`; everything else is left to a shell. */
export function parseRun(line: string): ProjectProgram {
  if (SCRIPT.test(line)) return { script: line, args: [] }
  const words = SHELL_SIGNS.test(line) ? null : splitWords(line)
  const [first, ...rest] = words ?? []
  if (first === undefined || !/^python3?$/.test(first)) return { script: null, shell: line }
  const flags = rest[0] === '-u' ? 1 : 0
  const script = rest[flags]
  if (script === undefined || !script.endsWith('.py')) return { script: null, shell: line }
  return { script, args: rest.slice(flags + 1) }
}

export type Install =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'packages'; readonly packages: readonly string[] }
  | { readonly kind: 'command'; readonly line: string }

/** A requirements file, `pip install …`, or a command that prepares each start. */
export function parseInstall(line: string): Install {
  if (/^[^\s'"]+\.txt$/.test(line)) return { kind: 'file', file: line }
  const words = SHELL_SIGNS.test(line.replaceAll(/[<>=~[\]]/g, '')) ? null : splitWords(line)
  const wanted = words === null ? null : afterPipInstall(words)
  if (wanted === null || wanted.length === 0) return { kind: 'command', line }
  const [flag, file] = wanted
  if (wanted.length === 2 && (flag === '-r' || flag === '--requirement') && file !== undefined)
    return { kind: 'file', file }
  return wanted.some(word => /^[-./]/.test(word)) ? { kind: 'command', line } : { kind: 'packages', packages: wanted }
}

function afterPipInstall(words: readonly string[]): readonly string[] | null {
  const rest = /^python3?$/.test(words[0] ?? '') && words[1] === '-m' ? words.slice(2) : words
  return /^pip3?$/.test(rest[0] ?? '') && rest[1] === 'install' ? rest.slice(2) : null
}

/** Words with quotes taken off; null if a quote is not closed. */
function splitWords(line: string): string[] | null {
  const words = line.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []
  if (words.join('').length !== line.replaceAll(/\s/g, '').length + spacesInQuotes(words)) return null
  return words.map(word => word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, one, two) => one ?? two ?? ''))
}

function spacesInQuotes(words: readonly string[]): number {
  return words.join('').match(/\s/g)?.length ?? 0
}

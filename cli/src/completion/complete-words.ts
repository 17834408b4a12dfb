import type { Argument, Command, Option } from 'commander'

/** What may stand at the cursor: fixed words, or a kind of thing that must be asked for. */
export interface Completion {
  readonly words: readonly Candidate[]
  readonly kind: Kind | null
  /** What stands before the part that is completed, as in `--stream=`. */
  readonly lead: string
  readonly typed: string
}

export interface Candidate {
  readonly word: string
  readonly meaning: string
}

export type Kind = 'job' | 'jobs' | 'worker' | 'context' | 'files'

/** Arguments and option values are known by the name they have in the help. */
const KINDS: Readonly<Record<string, Kind>> = {
  job: 'job',
  jobs: 'jobs',
  worker: 'worker',
  context: 'context',
  file: 'files',
  files: 'files',
  folder: 'files',
  path: 'files',
}

/** What fits at the end of the words behind a command; the last word is the one being typed, perhaps empty. */
export function completeWords(command: Command, words: readonly string[]): Completion {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  if (before.includes('--')) return { words: [], kind: 'files', lead: '', typed }
  const [first] = before
  const inner = command.commands.find(one => one.name() === first)
  if (inner !== undefined) return completeWords(inner, words.slice(1))
  if (typed.startsWith('--') && typed.includes('=')) return valueAfterSign(command, typed)
  const last = optionNamed(command, before.at(-1))
  if (last?.required === true) return { ...valuesOf(last), lead: '', typed }
  if (typed.startsWith('-')) return { words: options(command), kind: null, lead: '', typed }
  if (command.commands.length > 0) return { words: subcommands(command), kind: null, lead: '', typed }
  return { ...argumentAt(command, countOperands(command, before)), lead: '', typed }
}

function valueAfterSign(command: Command, typed: string): Completion {
  const at = typed.indexOf('=') + 1
  const option = optionNamed(command, typed.slice(0, at - 1))
  const value = option === undefined ? { words: [], kind: null } : valuesOf(option)
  return { ...value, lead: typed.slice(0, at), typed: typed.slice(at) }
}

function optionNamed(command: Command, word: string | undefined): Option | undefined {
  return command.options.find(option => word !== undefined && (option.long === word || option.short === word))
}

function valuesOf(option: Option): Pick<Completion, 'words' | 'kind'> {
  if (option.argChoices !== undefined) return { words: option.argChoices.map(plain), kind: null }
  const name = /<([^>.]+)/.exec(option.flags)?.[1] ?? ''
  return { words: [], kind: KINDS[option.long?.slice(2) ?? ''] ?? KINDS[name] ?? null }
}

function options(command: Command): Candidate[] {
  const own = command.options.filter(option => !option.hidden)
  return [...own.map(option => ({ word: option.long ?? option.flags, meaning: option.description })), HELP]
}

const HELP: Candidate = { word: '--help', meaning: 'print the help' }

function subcommands(command: Command): Candidate[] {
  return command.commands.map(one => ({ word: one.name(), meaning: one.description() }))
}

function countOperands(command: Command, before: readonly string[]): number {
  return before.filter((word, at) => {
    if (word.startsWith('-') && word !== '-') return false
    return optionNamed(command, before[at - 1])?.required !== true
  }).length
}

function argumentAt(command: Command, position: number): Pick<Completion, 'words' | 'kind'> {
  const all = command.registeredArguments
  const argument: Argument | undefined = all[position] ?? all.filter(one => one.variadic).at(-1)
  if (argument === undefined) return { words: [], kind: null }
  if (argument.argChoices !== undefined) return { words: argument.argChoices.map(plain), kind: null }
  return { words: [], kind: KINDS[argument.name()] ?? null }
}

function plain(word: string): Candidate {
  return { word, meaning: '' }
}

import { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { askCandidates } from '../completion/ask-candidates.ts'
import { type Candidate, completeWords } from '../completion/complete-words.ts'

/** Asked by the scripts of `stoker completion`: a word and its meaning per line; `:files` stands for names of files. */
export function define(command: Command, cli: Cli): void {
  command.argument('[words...]').action(async (words: string[]) => {
    for (const { word, meaning } of await candidates(words, cli))
      cli.io.stdout.write(meaning === '' ? `${word}\n` : `${word}\t${meaning}\n`)
  })
}

async function candidates(words: readonly string[], cli: Cli): Promise<Candidate[]> {
  const [name, ...rest] = words[0] === 'help' ? words.slice(1) : words
  if (name === undefined || rest.length === 0) return starting(allCommands(cli), name ?? '', '')
  const entry = cli.commands.find(one => one.name === name)
  if (entry === undefined) return []
  const command = new Command(name)
  ;(await entry.load()).define(command, cli)
  const { words: fixed, kind, lead, typed } = completeWords(command, rest)
  if (kind === 'files') return [{ word: ':files', meaning: '' }]
  const context = rest[rest.indexOf('--context') + 1]
  const asked = kind === null ? [] : await askCandidates(cli.io, kind, rest.includes('--context') ? context : undefined)
  return starting([...fixed, ...asked], typed, lead)
}

function allCommands(cli: Cli): Candidate[] {
  return cli.commands.filter(one => !one.isHidden).map(({ name, summary }) => ({ word: name, meaning: summary }))
}

function starting(all: readonly Candidate[], typed: string, lead: string): Candidate[] {
  return all.filter(one => one.word.startsWith(typed)).map(one => ({ ...one, word: lead + one.word }))
}

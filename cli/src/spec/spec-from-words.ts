import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { type FoundSpec, readSpecs } from './read-specs.ts'

/** The one spec a command line means: a program behind --, a job file, or what a preset, an image or a type starts by itself. */
export async function specFromWords(
  verb: string,
  words: readonly string[],
  cli: Cli,
  { preset, image, type }: { readonly preset?: string; readonly image?: string; readonly type?: string } = {},
): Promise<FoundSpec> {
  if (cli.argv.includes('--')) {
    if (words.length > 0) return { spec: { command: [...words] }, folder: cli.io.folder, place: () => null }
    throw new Failure('a program should follow --, nothing does', { exitCode: EXIT.usage })
  }
  const [file, ...more] = words
  const bringsProgram = preset !== undefined || image !== undefined || (type !== undefined && type !== 'command')
  if (file === undefined && bringsProgram) return { spec: {}, folder: cli.io.folder, place: () => null }
  if (file === undefined || more.length > 0 || !/(^-|\.(ya?ml|json))$/i.test(file)) {
    throw new Failure(`${verb} takes a program behind -- or one job file (.yaml, .yml, .json or - for stdin)`, {
      exitCode: EXIT.usage,
      details: [`for a program:  stoker ${verb} -- ${words.join(' ') || 'python3 train.py'}`],
    })
  }
  const [found, ...others] = await readSpecs(file, cli.io)
  if (found === undefined || others.length > 0)
    throw new Failure(`${verb} takes one job, ${file} holds ${others.length + 1}; use: stoker submit ${file}`, {
      exitCode: EXIT.usage,
    })
  return found
}

import { stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unlessAbsent } from '@stoker/files'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { chooseHub, clientOf } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { examples } from '../output/examples.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { CONFIG_NAMES } from '../project/find-project.ts'
import { starterFiles } from '../project/starter.ts'

const NAME_LENGTH = 200
const HUB_PATIENCE_MS = 2000

type InitOptions = OutputOptions & { readonly name?: string; readonly force?: boolean }

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('-n, --name <text>', 'of the project (the name of this folder)')
    .option('-f, --force', `replace a ${CONFIG_NAMES[0]} that is there; nothing else is ever replaced`)
    .addHelpText('after', examples(['init'], ['init -n digits && stoker push --follow']))
    .action((options: InitOptions) => init(options, cli))
}

async function init(options: InitOptions, { io }: Cli): Promise<void> {
  const name = options.name ?? (basename(io.folder) || 'project')
  if (name.trim() === '' || name.length > NAME_LENGTH)
    throw new Failure(`a project's name has 1 to ${NAME_LENGTH} characters, this one has ${name.trim().length}`, {
      exitCode: EXIT.usage,
    })
  const [config] = CONFIG_NAMES
  for (const one of CONFIG_NAMES)
    if (options.force !== true && (await isThere(join(io.folder, one))))
      throw new Failure(`${join(io.folder, one)} is there already; nothing was written`, {
        code: 'project.exists',
        details: ['replace it:  stoker init --force'],
      })
  const written: string[] = []
  for (const [file, text] of Object.entries(starterFiles(name, await usualGpus(io, options)))) {
    if (file !== config && (await isThere(join(io.folder, file)))) continue
    await writeFile(join(io.folder, file), text)
    written.push(file)
  }
  printerFor(io, options).show({ name, folder: io.folder, files: written }, initView)
}

/** One, as the documents have it, unless the hub surely has no GPU: a project should run as it was made. */
async function usualGpus(io: Io, { context }: InitOptions): Promise<number> {
  try {
    const client = await clientOf(io, await chooseHub(io, context))
    try {
      const workers = await client.workers(AbortSignal.timeout(HUB_PATIENCE_MS))
      return workers.length > 0 && workers.every(({ gpus }) => gpus.total === 0) ? 0 : 1
    } finally {
      client.close()
    }
  } catch {
    return 1
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await unlessAbsent(stat(path))) !== null
}

const initView: View<OutputOf<'init'>> = {
  ids: ({ folder }) => [folder],
  human: ({ name, folder, files }) =>
    [`${plainText(name)} in ${folder}: ${files.join(', ')}`, '', '  stoker push --follow'].join('\n'),
}

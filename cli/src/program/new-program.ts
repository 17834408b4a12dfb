import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

/** What image names allow, so that one name serves folder, image and preset. */
const NAME = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/
const MAX_NAME = 60
/** Stands for the name in the files that are copied. */
const PLACEHOLDER = /PROGRAM_NAME/g
const RUNNABLE: readonly string[] = ['worker.py', 'build.sh']

/** `stoker program new`: a folder that passes the check as it is. */
export async function newProgram(name: string, options: OutputOptions, { io }: Cli): Promise<void> {
  if (!NAME.test(name) || name.length > MAX_NAME)
    throw new Failure(
      `a program's name has small letters, digits and single . _ - between them, at most ${MAX_NAME}; this one is "${plainText(name)}"`,
      { exitCode: EXIT.usage, code: 'program.name' },
    )
  const folder = resolve(io.folder, name)
  await makeFolder(folder)
  const starter = join(io.programs, 'starter')
  const entries = await readdir(starter, { withFileTypes: true })
  const files = entries.flatMap(entry => (entry.isFile() ? [entry.name] : [])).sort()
  for (const file of files) {
    const text = await readFile(join(starter, file), 'utf8')
    await writeFile(join(folder, file), text.replace(PLACEHOLDER, name))
    if (RUNNABLE.includes(file)) await chmod(join(folder, file), 0o755)
  }
  printerFor(io, options).show({ name, folder, files }, newView)
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code !== 'EEXIST') throw error
    throw new Failure(`${folder} is there already; nothing was written`, { code: 'program.exists', cause: error })
  }
}

const newView: View<OutputOf<'program new'>> = {
  ids: ({ folder }) => [folder],
  human: ({ name, folder, files }) =>
    [
      `${folder}: ${files.join(', ')}`,
      '',
      `  cd ${name}`,
      '  stoker program check -- python3 worker.py',
      '  stoker program check --session -- python3 worker.py',
      `  ./build.sh && stoker program check --image ${name}:latest`,
    ].join('\n'),
}

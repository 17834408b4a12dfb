import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Client } from '@stoker/client'
import { type Artifact, formatSize } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { fetchArtifacts } from '../files/fetch-artifacts.ts'
import { fetchedText } from '../files/fetched-text.ts'
import { outputsFolder } from '../files/local-file.ts'
import { artifactsOf, fetchingOutputs } from '../files/take-outputs.ts'
import { shortId } from '../output/job-words.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type Column, table } from '../output/table.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'
import { wholeNumber } from '../spec/spec-options.ts'

interface ListOptions extends OutputOptions {
  readonly attempt?: number
}

export interface GetOptions extends ListOptions {
  readonly out?: string
  readonly tar?: string
  readonly overwrite?: boolean
}

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('list').description('list the files a job left'))
    .argument('<job>', JOB_HELP)
    .option('--attempt <n>', 'of this attempt instead of the last', wholeNumber)
    .action((id: string, options: ListOptions) => list(id, options, cli))
  withOutput(command.command('get').description('fetch files a job left; goes on where an earlier try was cut'))
    .argument('<job>', JOB_HELP)
    .argument('[paths...]', 'only these files or folders (all)')
    .option('--out <folder>', 'where to put them (./stoker-outputs/<job>)')
    .option('--tar <file>', 'write all of them as one archive instead')
    .option('--overwrite', 'replace files that differ, instead of putting the new one beside')
    .option('--attempt <n>', 'of this attempt instead of the last', wholeNumber)
    .action((id: string, paths: string[], options: GetOptions) => get(id, paths, options, cli))
}

async function list(id: string, { attempt, ...options }: ListOptions, cli: Cli): Promise<void> {
  await withHub(cli.io, options, async client => {
    const artifacts = await artifactsOf(client, await resolveJob(client, id), attempt)
    printerFor(cli.io, options).show({ artifacts, bytes: bytesOf(artifacts) }, listView)
  })
}

/** Also what `results` does, under another name. */
export async function get(id: string, paths: readonly string[], options: GetOptions, cli: Cli): Promise<void> {
  const { io } = cli
  const { attempt, tar } = options
  if (tar !== undefined && (paths.length > 0 || options.out !== undefined))
    throw new Failure('--tar takes all files into one archive; it goes with neither paths nor --out', {
      exitCode: EXIT.usage,
    })
  await withHub(io, options, async client => {
    const { id: whole } = await client.job(await resolveJob(client, id))
    const wanted = choose(await artifactsOf(client, whole, attempt), paths)
    const folder = tar ?? options.out ?? outputsFolder(io.folder, shortId(whole))
    const place = resolve(io.folder, folder)
    const out = printerFor(io, options)
    if (tar !== undefined) {
      await writeTar(client, whole, attempt, place)
      const files = wanted.map(({ path, size }) => ({ path, file: place, size, how: 'written' as const }))
      out.show({ folder: place, files }, getView)
      return
    }
    const mark = shortId(whole)
    const { overwrite } = options
    const how = { folder: place, mark, attempt, overwrite }
    const files = await fetchingOutputs(wanted, io, onMore => fetchArtifacts(client, whole, wanted, how, onMore))
    out.show({ folder: place, files: [...files] }, getView)
  })
}

function choose(artifacts: readonly Artifact[], paths: readonly string[]): readonly Artifact[] {
  const names = paths.map(path => path.replace(/^\.\//, '').replace(/\/+$/, ''))
  for (const name of names)
    if (!artifacts.some(({ path }) => path === name || path.startsWith(`${name}/`)))
      throw new Failure(`the job left ${artifacts.length} files, none of them is ${name}`, {
        exitCode: EXIT.notFound,
        code: 'artifact.not_found',
      })
  if (names.length === 0) return artifacts
  return artifacts.filter(({ path }) => names.some(name => path === name || path.startsWith(`${name}/`)))
}

async function writeTar(client: Client, id: string, attempt: number | undefined, file: string): Promise<void> {
  const partial = `${file}.part`
  try {
    await pipeline(client.artifactsTar(id, { attempt }), createWriteStream(partial, { mode: 0o644 }))
    await rename(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}

function bytesOf(artifacts: readonly Artifact[]): number {
  return artifacts.reduce((sum, { size }) => sum + size, 0)
}

const COLUMNS: readonly Column<Artifact>[] = [
  { title: 'PATH', cell: ({ path }) => path, shrinkTo: 20 },
  { title: 'SIZE', cell: ({ size }) => formatSize(size) },
  { title: 'TYPE', cell: ({ type }) => type, importance: 1 },
  { title: 'SHA-256', cell: ({ sha256 }) => sha256.slice(0, 16), importance: 0 },
]

const listView: View<OutputOf<'artifacts list'>> = {
  ids: ({ artifacts }) => artifacts.map(({ path }) => path),
  human: ({ artifacts }, paper) =>
    artifacts.length === 0 ? 'the job left no files' : table(COLUMNS, artifacts as Artifact[], paper),
}

const getView: View<OutputOf<'artifacts get'>> = {
  ids: ({ files }) => files.map(({ file }) => file),
  human: fetchedText,
}

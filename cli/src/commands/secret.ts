import { readFile } from 'node:fs/promises'
import { MAX_SECRET_BYTES, type Secret, SHORTEST_HIDDEN_BYTES } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { ago } from '../output/job-words.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type Column, table } from '../output/table.ts'

interface SecretOptions extends OutputOptions {
  readonly owner?: string
}
interface SetOptions extends SecretOptions {
  readonly fromFile?: string
}

export function define(command: Command, cli: Cli): void {
  withOwner(
    command.command('set').description('set a secret; its value is typed unseen, piped in, or read from a file'),
  )
    .argument('<name>', 'what jobs call it, like HF_TOKEN')
    .option('--from-file <file>', 'take exactly the bytes of this file')
    .action((name: string, options: SetOptions) => set(name, options, cli))
  withOwner(command.command('list').description('list secrets, without their values')).action(
    (options: SecretOptions) =>
      withHub(cli.io, options, async client => {
        const { owner } = options
        printerFor(cli.io, options).show(await client.secrets({ owner }), secretsView)
      }),
  )
  withOwner(command.command('remove').description('remove a secret; attempts that have it keep it'))
    .argument('<name>', 'its name')
    .action((name: string, options: SecretOptions) =>
      withHub(cli.io, options, async client => {
        await client.removeSecret(name, options.owner)
        printerFor(cli.io, options).show({ removed: name }, removedView)
      }),
    )
  withOutput(
    command.command('rotate-key').description('seal all secrets with a new key and forget the old one'),
  ).action((options: OutputOptions) =>
    withHub(cli.io, options, async client => {
      printerFor(cli.io, options).show(await client.rotateSecretKey(), rotatedView)
    }),
  )
}

function withOwner(command: Command): Command {
  return withOutput(command).option('--owner <owner>', 'of this owner (admin)')
}

async function set(name: string, options: SetOptions, { io }: Cli): Promise<void> {
  const value = await givenValue(name, options, io)
  if (value.length === 0) throw new Failure(`secret ${name} would be empty; nothing was set`)
  if (value.length > MAX_SECRET_BYTES)
    throw new Failure(`secret ${name} would have ${value.length} bytes, at most ${MAX_SECRET_BYTES} are kept`)
  await withHub(io, options, async client => {
    const secret = await client.setSecret(name, value, options.owner)
    const out = printerFor(io, options)
    if (value.length < SHORTEST_HIDDEN_BYTES)
      out.note(`it has fewer than ${SHORTEST_HIDDEN_BYTES} bytes: it cannot be hidden in the output of programs`)
    out.show(secret, secretView)
  })
}

/** A line break at the end of what is piped or typed belongs to the line, not to the value. */
async function givenValue(name: string, { fromFile }: SetOptions, io: Io): Promise<Buffer> {
  if (fromFile !== undefined) {
    return readFile(fromFile).catch(cause => {
      throw new Failure(`the value should be in ${fromFile}, which cannot be read: ${cause.message}`, { cause })
    })
  }
  const text = await io.readHidden(() => io.stderr.write(`Value of ${name} (not shown): `))
  if (text.includes('\uFFFD')) throw new Failure('the value is not text; give it with --from-file')
  return Buffer.from(text.replace(/\r?\n$/, ''))
}

const secretView: View<OutputOf<'secret set'>> = {
  ids: ({ name }) => [name],
  human: ({ name, owner, bytes }) => `${name} of ${owner} is set (${bytes} bytes)`,
}

const removedView: View<OutputOf<'secret remove'>> = {
  ids: ({ removed }) => [removed],
  human: ({ removed }) => `${removed} removed; attempts that started before keep it`,
}

const rotatedView: View<OutputOf<'secret rotate-key'>> = {
  ids: ({ key }) => [key],
  human: ({ key, resealed }) => `${resealed} secrets are sealed with the new key ${key}; keep a copy of the key file`,
}

const secretsView: View<OutputOf<'secret list'>> = {
  ids: ({ secrets }) => secrets.map(secret => secret.name),
  human: ({ secrets }, paper) => {
    if (secrets.length === 0) return 'no secrets; set one with `stoker secret set NAME`'
    const columns: Column<Secret>[] = [
      { title: 'NAME', cell: secret => secret.name, shrinkTo: 8 },
      { title: 'OWNER', cell: secret => secret.owner, shrinkTo: 5 },
      { title: 'BYTES', cell: secret => String(secret.bytes) },
      { title: 'SET', cell: secret => ago(secret.changedAt, paper.now) },
    ]
    return table(columns, secrets, paper)
  },
}

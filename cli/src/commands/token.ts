import { NewToken, type Token } from '@stoker/protocol'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { ago } from '../output/job-words.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type Column, table } from '../output/table.ts'
import { secondsOf } from '../spec/spec-options.ts'

interface CreateOptions extends OutputOptions {
  readonly role: NewToken['role']
  readonly owner?: string
  readonly label?: string
  readonly expiresIn?: number
}

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('create').description('make a token; its secret is shown this once'))
    .addOption(new Option('--role <role>', 'what it may do').choices(NewToken.shape.role.options).makeOptionMandatory())
    .option('--owner <owner>', 'whose jobs it is for')
    .option('--label <text>', 'what lists call it')
    .option('--expires-in <duration>', 'how long it lives, like 30d', secondsOf)
    .action((options: CreateOptions) => create(options, cli))
  withOutput(command.command('list').description('list tokens, without their secrets')).action(
    (options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show({ tokens: await client.tokens() }, tokensView)
      }),
  )
  withOutput(command.command('revoke').description('end a token'))
    .argument('<token>', 'id of the token')
    .action((id: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        await client.revokeToken(id)
        printerFor(cli.io, options).show({ revoked: id }, revokedView)
      }),
    )
}

async function create(options: CreateOptions, cli: Cli): Promise<void> {
  const { role, owner, label, expiresIn: expiresInSeconds } = options
  await withHub(cli.io, options, async client => {
    const created = await client.createToken({ role, owner, label, expiresInSeconds })
    const out = printerFor(cli.io, options)
    out.note(`token ${created.id} for ${created.owner}, role ${created.role}; its secret is not shown again:`)
    out.show(created, createdView)
  })
}

/** Only the secret goes to stdout, so that it can be piped into a file without being seen. */
const createdView: View<OutputOf<'token create'>> = { ids: token => [token.secret], human: token => token.secret }

const revokedView: View<OutputOf<'token revoke'>> = {
  ids: ({ revoked }) => [revoked],
  human: ({ revoked }) => `${revoked} revoked`,
}

const tokensView: View<OutputOf<'token list'>> = {
  ids: ({ tokens }) => tokens.map(token => token.id),
  human: ({ tokens }, paper) => {
    const columns: Column<Token>[] = [
      { title: 'ID', cell: token => token.id },
      { title: 'ROLE', cell: token => token.role },
      { title: 'OWNER', cell: token => token.owner, shrinkTo: 5 },
      { title: 'LABEL', cell: token => token.label, shrinkTo: 5 },
      { title: 'MADE', cell: token => ago(token.createdAt, paper.now) },
      { title: 'EXPIRES', cell: token => token.expiresAt ?? 'never' },
      { title: 'USED BY', cell: token => token.usedBy ?? '', shrinkTo: 7 },
    ]
    return table(columns, tokens, paper)
  },
}

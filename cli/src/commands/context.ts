import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parsePin } from '@stoker/net'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { clientOf } from '../connect.ts'
import { type Contexts, contextNamed, readContexts, saveContext, writeContexts } from '../contexts.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { table } from '../output/table.ts'

interface TrustOptions {
  readonly pin?: string
  readonly ca?: string
  readonly proxy?: string
}
type AddOptions = OutputOptions & TrustOptions & { readonly url: string; readonly tokenFile?: string }

export function define(command: Command, cli: Cli): void {
  const file = cli.io.config.contextsFile
  withFormat(command.command('list').description('list the known hubs')).action(async (options: OutputOptions) =>
    show(await readContexts(file), options, cli),
  )
  withFormat(command.command('use').description('talk to this hub from now on'))
    .argument('<context>', 'its name')
    .action(async (name: string, options: OutputOptions) => {
      const known = await readContexts(file)
      contextNamed(known, name)
      await writeContexts(file, { ...known, current: name })
      show({ ...known, current: name }, options, cli)
    })
  withFormat(command.command('add').description('remember a hub; the token comes from a file or stdin'))
    .argument('<name>')
    .requiredOption('--url <url>', 'like http://hub.example:7070')
    .option('--token-file <file>', 'file with the token (- or none: stdin)')
    .option('--pin <sha256/…>', "the SHA-256 of the hub's key, as `stoker listener list` shows it")
    .option('--ca <file>', 'certificates that vouch for the hub')
    .option('--proxy <url>', 'HTTP proxy on the way (that of HTTPS_PROXY or HTTP_PROXY)')
    .action((name: string, options: AddOptions) => add(name, options, cli))
  withFormat(command.command('remove').description('forget a hub'))
    .argument('<context>', 'its name')
    .action(async (name: string, options: OutputOptions) => {
      const known = await readContexts(file)
      contextNamed(known, name)
      const { [name]: _, ...contexts } = known.contexts
      const left = { current: known.current === name ? null : known.current, contexts }
      await writeContexts(file, left)
      show(left, options, cli)
    })
}

/** The token is tried before it is kept: a context that is listed once worked. */
async function add(name: string, options: AddOptions, cli: Cli): Promise<void> {
  const url = URL.canParse(options.url) ? new URL(options.url).href.replace(/\/$/, '') : null
  if (url === null || !/^https?:/.test(url))
    throw new Failure(`--url should be an http or https address, found "${options.url}"`, { exitCode: EXIT.usage })
  const from = options.tokenFile ?? '-'
  const token = (from === '-' ? await cli.io.readStdin() : await readFile(from, 'utf8')).trim()
  const context = { url, token, ...trustWords(url, options) }
  const client = await clientOf(cli.io, context)
  try {
    const { owner, role } = await client.me()
    await saveContext(cli.io.config.contextsFile, name, context)
    printerFor(cli.io, options).note(`${name}: you are ${owner} with role ${role}`)
  } finally {
    client.close()
  }
  show(await readContexts(cli.io.config.contextsFile), options, cli)
}

/** Only what was given, in the form a context keeps it. */
function trustWords(url: string, { pin, ca, proxy }: TrustOptions): TrustOptions {
  if (pin !== undefined && parsePin(pin) === null)
    throw new Failure(`--pin should look like sha256/…=, found "${pin}"`, { exitCode: EXIT.usage })
  if ((pin !== undefined || ca !== undefined) && !url.startsWith('https:'))
    throw new Failure(`--pin and --ca need an https hub, found ${url}`, { exitCode: EXIT.usage })
  return {
    ...(pin === undefined ? {} : { pin: parsePin(pin) ?? pin }),
    ...(ca === undefined ? {} : { ca: resolve(ca) }),
    ...(proxy === undefined ? {} : { proxy }),
  }
}

function withFormat(command: Command): Command {
  return command.option('--json', 'print exactly one JSON value').option('-q, --quiet', 'print names only')
}

function show(known: Contexts, options: OutputOptions, cli: Cli): void {
  const contexts = Object.entries(known.contexts).map(([name, { url, token }]) => ({
    name,
    url,
    hasToken: token !== null,
  }))
  printerFor(cli.io, options).show({ current: known.current, contexts }, contextsView)
}

const contextsView: View<OutputOf<'context list'>> = {
  ids: ({ contexts }) => contexts.map(context => context.name),
  human({ current, contexts }, paper) {
    if (contexts.length === 0) return 'no hub is known yet; start one with `stoker up`'
    const columns = [
      { title: '', cell: (context: (typeof contexts)[number]) => (context.name === current ? '*' : '') },
      { title: 'NAME', cell: (context: (typeof contexts)[number]) => context.name },
      { title: 'URL', cell: (context: (typeof contexts)[number]) => context.url, shrinkTo: 20 },
    ]
    return table(columns, contexts, paper)
  },
}

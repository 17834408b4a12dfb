import { isIPv6 } from 'node:net'
import type { Client } from '@stoker/client'
import { type Fetcher, hostOf, joinLine } from '@stoker/net'
import { formatDuration, type Listener } from '@stoker/protocol'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { secondsOf } from '../spec/spec-options.ts'

interface Options extends OutputOptions {
  readonly host?: string
  readonly listen: string
  readonly yes?: boolean
  readonly with: Fetcher
  readonly install?: boolean
  readonly expiresIn: number
}

const HOUR_SECONDS = 3600

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('--host <name>', 'name or address by which the other machine reaches the hub')
    .option('--listen <url>', 'where the hub starts to listen if it must', 'https://0.0.0.0:7443')
    .option('-y, --yes', 'open that listener without asking')
    .option('--install', 'the line installs a systemd service')
    .addOption(
      new Option('--with <program>', 'what fetches on the other machine')
        .choices(['curl', 'wget', 'node'])
        .default('curl'),
    )
    .option('--expires-in <duration>', 'how long the line works, like 30m', secondsOf, HOUR_SECONDS)
    .action((options: Options) => withHub(cli.io, options, client => join(client, options, cli.io)))
}

/** Prints one line that makes another machine a worker of this hub. */
async function join(client: Client, options: Options, io: Io): Promise<void> {
  const out = printerFor(io, options)
  const listener = await openListener(client, options, io)
  const { host, others } = await chooseHost(client, listener, options)
  const { port, protocol } = new URL(listener.url)
  const token = await client.createToken({ role: 'join', label: 'stoker join', expiresInSeconds: options.expiresIn })
  const base = `${protocol}//${isIPv6(host) ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`
  const url = `${base}/join/${token.secret}`
  const pin = listener.selfSigned ? listener.pin : null
  const line = joinLine(options.with, url, pin, options.install === true ? ['--install'] : [])
  const within = formatDuration(options.expiresIn * 1000)
  out.note(
    `Paste this on the other machine (Linux, Node 20.15 and Python 3.10 or newer); it works once, within ${within}:`,
  )
  if (others.length > 0) out.note(`The hub is also at ${others.join(', ')}; choose with --host.`)
  out.note('')
  out.show({ line, url, hub: base, pin, tokenId: token.id, expiresAt: token.expiresAt }, joinView)
}

/** The line is all of stdout, so that it can be piped to where it is needed. */
const joinView: View<OutputOf<'join'>> = { ids: ({ url }) => [url], human: ({ line }) => line }

async function openListener(client: Client, options: Options, io: Io): Promise<Listener> {
  const { listeners } = await client.listeners()
  const open = listeners.find(({ pin, error }) => pin !== null && error === null)
  if (open !== undefined) return open
  const question = `The hub can be reached from this machine only. Open ${options.listen} with TLS, now and after restarts?`
  if (options.yes === true || (await agrees(io, question))) return client.openListener(options.listen)
  throw new Failure('another machine needs a listener with TLS, the hub has none', {
    code: 'join.no_listener',
    details: ['open one:  stoker join --yes', 'or elsewhere:  stoker listener open https://ADDRESS:PORT'],
  })
}

async function agrees(io: Io, question: string): Promise<boolean> {
  return /^y(es)?$/i.test(((await io.ask(`${question} [y/N] `)) ?? '').trim())
}

async function chooseHost(client: Client, listener: Listener, options: Options) {
  if (options.host !== undefined) return { host: hostNamed(options.host), others: [] }
  const bound = hostOf(new URL(listener.url))
  if (bound !== '0.0.0.0' && bound !== '::') return { host: bound, others: [] }
  const { addresses } = await client.listeners()
  const [host, ...others] = addresses.filter(address => bound === '::' || !isIPv6(address))
  if (host === undefined)
    throw new Failure("the hub's machine has no address but its loopback", {
      code: 'join.no_address',
      details: ['name the one it is reached by:  stoker join --host NAME'],
    })
  return { host, others }
}

/** It ends up in a line for a shell. */
function hostNamed(host: string): string {
  if (/^[A-Za-z0-9.-]+$/.test(host) || isIPv6(host)) return host
  throw new Failure(`--host should be a name or an address, found "${host}"`, { exitCode: EXIT.usage })
}

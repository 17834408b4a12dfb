import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { writeAtomic } from '@stoker/files'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { Failure } from '../failure.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { programFile } from '../processes/program.ts'
import { type JoiningOptions, joinTokenOf, workerHub } from '../processes/worker-hub.ts'
import { workerArgs } from '../processes/worker-process.ts'
import { type Scope, systemctl, systemdRuns } from '../service/systemctl.ts'
import { workerUnit } from '../service/worker-unit.ts'

interface ServiceOptions extends JoiningOptions, OutputOptions {
  readonly user?: boolean
  readonly print?: boolean
}

const UNIT = 'stoker-worker.service'

export function withServiceOptions(command: Command): Command {
  return command
    .option('--user', 'a service of this user instead of the machine')
    .option('--json', 'print exactly one JSON value')
    .option('-q, --quiet', 'print only the name of the unit')
}

/** Writes the unit and starts it; where systemd does not run, shows it and does nothing. */
export async function install(options: ServiceOptions, cli: Cli): Promise<void> {
  const { io } = cli
  const scope: Scope = options.user === true ? 'user' : 'system'
  const hub = await workerHub(options, io)
  const folder = resolve(join(options.data ?? io.config.dataFolder, 'worker'))
  const environmentFile = `${folder}.env`
  const words = [
    io.config.node,
    programFile(io.programs, 'worker'),
    ...workerArgs(hub.url, folder, { ...options, ...hub }),
  ]
  const text = workerUnit({ words, environmentFile, path: io.config.path, scope })
  const file = unitFile(scope, cli)
  const out = printerFor(io, options)
  if (options.print === true) {
    out.show({ unit: UNIT, file, text, started: false }, { ...installedView, human: () => text.trimEnd() })
    return
  }
  if (!systemdRuns() && out.kind === 'human') io.stdout.write(text)
  needSystemd(`nothing was written to ${file} and nothing was started`)
  needRoot(scope, cli)
  const token = io.config.join ?? (await joinTokenOf(options, hub, folder, io))
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  await writeAtomic(environmentFile, environmentText(token, io.config.proxyVariables), { mode: 0o600 })
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { mode: 0o644 })
  await systemctl(scope, 'daemon-reload')
  await systemctl(scope, 'enable', UNIT)
  await systemctl(scope, 'restart', UNIT)
  out.show({ unit: UNIT, file, text, started: true }, installedView)
  if (scope === 'user') out.note('It ends when you log out, unless you run:  loginctl enable-linger')
}

/** What the worker made stays: its identity, and the output that its hub has not yet. */
export async function uninstall(options: ServiceOptions, cli: Cli): Promise<void> {
  const scope: Scope = options.user === true ? 'user' : 'system'
  const file = unitFile(scope, cli)
  needSystemd(`nothing was stopped and ${file} was not touched`)
  needRoot(scope, cli)
  await systemctl(scope, 'disable', '--now', UNIT)
  await rm(file, { force: true })
  await rm(`${resolve(join(options.data ?? cli.io.config.dataFolder, 'worker'))}.env`, { force: true })
  await systemctl(scope, 'daemon-reload')
  printerFor(cli.io, options).show({ removed: UNIT }, removedView)
}

const installedView: View<OutputOf<'worker install'>> = {
  ids: ({ unit }) => [unit],
  human: ({ unit, file }) => `${unit} runs (${file}). Its log:  journalctl -u ${unit}`,
}

const removedView: View<OutputOf<'worker uninstall'>> = {
  ids: ({ removed }) => [removed],
  human: ({ removed }) => `${removed} was stopped and removed; the data of the worker is still there`,
}

function unitFile(scope: Scope, { io }: Cli): string {
  return join(scope === 'user' ? io.config.userUnits : '/etc/systemd/system', UNIT)
}

/** Only root and the user may read it: it holds the join token. */
function environmentText(token: string | null, proxies: Readonly<Record<string, string>>): string {
  const variables = Object.entries({ ...proxies, ...(token === null ? {} : { STOKER_JOIN: token }) })
  return variables.map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, '')}"\n`).join('')
}

function needSystemd(undone: string): void {
  if (systemdRuns()) return
  throw new Failure(`systemd does not run on this machine: ${undone}`, {
    code: 'systemd.absent',
    details: ['start the worker in a terminal or by your own supervisor:  stoker worker'],
  })
}

function needRoot(scope: Scope, { io }: Cli): void {
  if (scope === 'user' || io.config.isRoot) return
  throw new Failure('a service of the machine needs root, you are not', {
    code: 'systemd.root',
    details: ['a service of your own:  stoker worker install --user'],
  })
}

import type { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'

/** How a worker is told of the hub of another system. */
export interface ForeignOptions {
  readonly hub?: string | undefined
  readonly backend?: string | undefined
  readonly price?: string | undefined
  readonly location?: string | undefined
  readonly address?: string | undefined
  readonly progressInterval?: string | undefined
  readonly uploadUrl?: string | undefined
  readonly scheduler?: string | undefined
  readonly workerId?: string | undefined
}

export interface ForeignHub {
  readonly dialect: 'qubix' | 'trainforge'
  /** Without the login. */
  readonly url: string
  readonly login: string | null
  /** The words that tell a worker of it. */
  readonly words: readonly string[]
}

export function withForeignOptions(command: Command): Command {
  return command
    .option('--backend <url>', 'serve a QUBIX backend instead of a hub')
    .option('--price <n>', 'with --backend: price per hour (5.0)')
    .option('--location <text>', 'with --backend: where this machine is (Local Network)')
    .option('--address <identity>', 'with --backend: your Qubic identity, 60 letters')
    .option('--progress-interval <seconds>', 'with --backend: how often progress is told (10)')
    .option('--upload-url <url>', 'with --backend: where files of jobs are put, by HTTP PUT')
    .option('--scheduler <url>', 'serve a TrainForge scheduler instead of a hub')
    .option('--worker-id <id>', 'with --scheduler: the id of this worker (host name and a suffix)')
}

const QUBIX_ONLY = ['price', 'location', 'address', 'progressInterval', 'uploadUrl'] as const

/** Null: a hub of our own. What belongs to another kind of hub than the one that was named is refused. */
export function foreignHub(options: ForeignOptions): ForeignHub | null {
  const { backend, scheduler, workerId } = options
  const named = (['hub', 'backend', 'scheduler'] as const).filter(name => options[name] !== undefined)
  if (named.length > 1) throw usage(`a worker serves one hub, found --${named.join(' and --')}`)
  const alone = QUBIX_ONLY.find(name => options[name] !== undefined && backend === undefined)
  if (alone !== undefined) throw usage(`--${dashed(alone)} is for --backend, found none`)
  if (workerId !== undefined && scheduler === undefined) throw usage('--worker-id is for --scheduler, found none')
  if (backend !== undefined) return { dialect: 'qubix', ...addressOf('--backend', backend, qubixWords(options)) }
  if (scheduler === undefined) return null
  const words = workerId === undefined ? [] : ['--worker-id', workerId]
  return { dialect: 'trainforge', ...addressOf('--scheduler', scheduler, words) }
}

function qubixWords(options: ForeignOptions): string[] {
  return QUBIX_ONLY.flatMap(name => {
    const value = options[name]
    return value === undefined ? [] : [`--${dashed(name)}`, value]
  })
}

/** The login goes another way: what a process was started with can be read by everyone on its machine. */
function addressOf(option: string, text: string, more: readonly string[]): Omit<ForeignHub, 'dialect'> {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw usage(`${option} is an http or https address, found ${text}`)
  const { username, password, origin, pathname } = new URL(text)
  const url = `${origin}${pathname}`.replace(/\/+$/, '')
  const login = username === '' ? null : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { url, login, words: [option, url, ...more] }
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

function usage(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage, code: 'cli.usage' })
}

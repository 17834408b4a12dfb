import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type LogFormat, type LogLevel, logChoice } from '@stoker/files'
import { POLICY_NAMES, type PolicyName, parseDuration } from '@stoker/protocol'
import { readSettings, type Settings } from './presets/settings.ts'
import { DEFAULT_RETENTION, type Retention } from './retention/settings.ts'

export type HubCommand =
  | {
      readonly command: 'serve'
      readonly data: string
      readonly host: string
      readonly port: number
      readonly webhookHosts: readonly string[]
      readonly log: { readonly format: LogFormat; readonly level: LogLevel }
      /** Ends when its stdin does: whoever started it is gone. */
      readonly supervised: boolean
      readonly insecureSecrets: boolean
      readonly rateLimit: number | null | undefined
      readonly listen: readonly string[]
      readonly tls: { readonly cert: string; readonly key: string } | undefined
      readonly insecure: boolean
      readonly policy: PolicyName
      readonly retention: Retention
      readonly presets: PresetOptions
      /** Undefined: the GPU-service API has no port of its own. */
      readonly gpuServicePort: number | undefined
      /** Undefined: QUBIX has no port of its own. */
      readonly qubixPort: number | undefined
      readonly qubixOpen: boolean
      readonly openaiOnDisconnect: 'cancel' | 'keep'
      readonly trainforge: TrainForgeOptions
    }
  | { readonly command: 'backup'; readonly data: string; readonly to: string }
  | { readonly command: 'restore'; readonly data: string; readonly from: string }
  | { readonly command: 'verify'; readonly data: string; readonly json: boolean }
  | { readonly command: 'check-presets'; readonly presets: PresetOptions; readonly form: 'human' | 'json' | 'quiet' }

/** Where presets are, and what the environment decides about them. */
export interface PresetOptions {
  readonly folder: string
  readonly settings: Settings
  /** What `~` means in their files. */
  readonly home: string
}

/** How workers of TrainForge reach the hub. */
export interface TrainForgeOptions {
  /** Undefined: no port of its own. */
  readonly port: number | undefined
  /** Callers of this machine need no token. */
  readonly isOpen: boolean
  /** A second place where the folders of jobs are made, for nodes that look there. */
  readonly filesFolder: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** The only place that reads the command line and the environment of the hub process. */
export function readCommand(argv: readonly string[], env: Environment = process.env): HubCommand {
  const [command, ...rest] = argv
  const { values } = parseArgs({
    args: withPort(rest),
    options: {
      data: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '7070' },
      listen: { type: 'string', multiple: true },
      tls: { type: 'string' },
      'tls-cert': { type: 'string' },
      'tls-key': { type: 'string' },
      insecure: { type: 'boolean', default: false },
      policy: { type: 'string', default: 'packed' },
      'keep-jobs': { type: 'string' },
      'keep-logs': { type: 'string' },
      'keep-artifacts': { type: 'string' },
      'keep-unused-uploads': { type: 'string' },
      'keep-journal': { type: 'string' },
      to: { type: 'string' },
      from: { type: 'string' },
      'webhook-allow': { type: 'string', multiple: true },
      'log-format': { type: 'string' },
      'log-level': { type: 'string' },
      json: { type: 'boolean', default: false },
      supervised: { type: 'boolean', default: false },
      'rate-limit': { type: 'string' },
      'insecure-secrets': { type: 'boolean', default: false },
      presets: { type: 'string' },
      quiet: { type: 'boolean', default: false },
      'gpu-service': { type: 'string' },
      'qubix-port': { type: 'string' },
      'qubix-open': { type: 'boolean', default: false },
      'trainforge-port': { type: 'string' },
      'trainforge-open': { type: 'boolean', default: false },
      'legacy-files-dir': { type: 'string' },
    },
  })
  if (command === 'check-presets')
    return {
      command,
      presets: presetsIn(needed(values.presets, '--presets'), env),
      form: values.json ? 'json' : values.quiet ? 'quiet' : 'human',
    }
  const data = needed(values.data, '--data')
  if (command === 'serve')
    return {
      command,
      data,
      host: values.host,
      port: portOf(values.port),
      policy: policyOf(values.policy),
      retention: retentionOf(values),
      presets: presetsIn(values.presets ?? join(data, 'presets'), env),
      gpuServicePort: ownPort('--gpu-service', values['gpu-service'] ?? env.STOKER_GPU_SERVICE),
      qubixPort: ownPort('--qubix-port', values['qubix-port'] ?? env.STOKER_QUBIX_PORT),
      qubixOpen: values['qubix-open'] || isSet('STOKER_QUBIX_OPEN', env),
      trainforge: trainforgeOf(values, env),
      openaiOnDisconnect: onDisconnect(env.STOKER_OPENAI_ON_DISCONNECT),
      insecure: values.insecure,
      ...tlsOf(values),
      webhookHosts: values['webhook-allow'] ?? [],
      log: logChoice({ format: values['log-format'], level: values['log-level'] }),
      supervised: values.supervised,
      insecureSecrets: values['insecure-secrets'],
      rateLimit: rateOf(values['rate-limit']),
    }
  if (command === 'backup') return { command, data, to: needed(values.to, '--to') }
  if (command === 'restore') return { command, data, from: needed(values.from, '--from') }
  if (command === 'verify') return { command, data, json: values.json }
  throw new Error(`unknown command ${command ?? '(none)'}; known: serve, backup, restore, verify, check-presets`)
}

function presetsIn(folder: string, env: Environment): PresetOptions {
  return { folder: resolve(folder), settings: readSettings(env), home: homedir() }
}

const GPU_SERVICE_PORT = '8001'

/** The port may be left out behind --gpu-service. */
function withPort(args: readonly string[]): string[] {
  const at = args.indexOf('--gpu-service')
  const next = args[at + 1]
  if (at < 0 || (next !== undefined && !next.startsWith('-'))) return [...args]
  return [...args.slice(0, at + 1), GPU_SERVICE_PORT, ...args.slice(at + 1)]
}

function ownPort(option: string, text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : portOf(text, option)
}

function isSet(name: string, env: Environment): boolean {
  const text = env[name]
  if (text === undefined || text === '' || text === '0') return false
  if (text === '1') return true
  throw new Error(`${name} is 1 or 0, found "${text}"`)
}

interface TrainForgeValues {
  readonly 'trainforge-port'?: string | undefined
  readonly 'trainforge-open': boolean
  readonly 'legacy-files-dir'?: string | undefined
}

function trainforgeOf(values: TrainForgeValues, env: Environment): TrainForgeOptions {
  const folder = values['legacy-files-dir'] ?? env.STOKER_LEGACY_FILES_DIR ?? ''
  return {
    port: ownPort('--trainforge-port', values['trainforge-port'] ?? env.STOKER_TRAINFORGE_PORT),
    isOpen: values['trainforge-open'] || isSet('STOKER_TRAINFORGE_OPEN', env),
    filesFolder: folder === '' ? undefined : resolve(folder),
  }
}

function onDisconnect(text: string | undefined): 'cancel' | 'keep' {
  if (text === undefined || text === '' || text === 'cancel') return 'cancel'
  if (text === 'keep') return 'keep'
  throw new Error(`STOKER_OPENAI_ON_DISCONNECT is cancel or keep, found "${text}"`)
}

const TLS_ADDRESS = 'https://0.0.0.0:7443'

interface TlsOptions {
  readonly listen?: readonly string[] | undefined
  readonly tls?: string | undefined
  readonly 'tls-cert'?: string | undefined
  readonly 'tls-key'?: string | undefined
}

/** Whoever speaks of TLS and names no address wants the usual one. */
function tlsOf({ listen, tls, 'tls-cert': cert, 'tls-key': key }: TlsOptions) {
  if (tls !== undefined && tls !== 'self-signed') throw new Error(`--tls is "self-signed", found "${tls}"`)
  if ((cert === undefined) !== (key === undefined))
    throw new Error(
      `--tls-cert and --tls-key belong together, found only ${cert === undefined ? 'the key' : 'the certificate'}`,
    )
  if (tls !== undefined && cert !== undefined)
    throw new Error('--tls self-signed makes a certificate, --tls-cert brings one: found both')
  const files = cert === undefined || key === undefined ? undefined : { cert, key }
  const wanted = tls === undefined && files === undefined ? [] : [TLS_ADDRESS]
  return { listen: listen ?? wanted, tls: files }
}

function needed(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new Error(`${option} is needed, found nothing`)
  return value
}

/** 0 is no limit. */
function rateOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined
  const rate = Number(text)
  if (!Number.isInteger(rate) || rate < 0) throw new Error(`--rate-limit is a whole number of 0 or more, found ${text}`)
  return rate === 0 ? null : rate
}

function portOf(text: string, option = '--port'): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`${option} is a whole number from 0 to 65535, found ${text}`)
  return port
}

function policyOf(text: string): PolicyName {
  const policy = POLICY_NAMES.find(name => name === text)
  if (policy === undefined) throw new Error(`--policy is one of ${POLICY_NAMES.join(', ')}, found ${text}`)
  return policy
}

function retentionOf(values: Readonly<Record<string, unknown>>): Retention {
  const kept = (option: string, byDefault: number): number => {
    const text = values[option]
    if (typeof text !== 'string') return byDefault
    const ms = parseDuration(text)
    if (ms === null) throw new Error(`--${option} is a duration like 30d, 12h or 90m, found ${text}`)
    return ms
  }
  return {
    jobsMs: kept('keep-jobs', DEFAULT_RETENTION.jobsMs),
    logsMs: kept('keep-logs', DEFAULT_RETENTION.logsMs),
    artifactsMs: kept('keep-artifacts', DEFAULT_RETENTION.artifactsMs),
    unusedUploadsMs: kept('keep-unused-uploads', DEFAULT_RETENTION.unusedUploadsMs),
    journalMs: kept('keep-journal', DEFAULT_RETENTION.journalMs),
  }
}

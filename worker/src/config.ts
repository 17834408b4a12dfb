import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import { type LogFormat, type LogLevel, logChoice } from '@stoker/files'
import { parsePin, proxyFor, type Trust } from '@stoker/net'
import { parseSize } from '@stoker/protocol'
import { fetchesModels, metricsMs } from './env-settings.ts'
import { environmentLimit } from './environment-limit.ts'
import { FOREIGN_OPTIONS, type ForeignConfig, foreignConfig } from './foreign-config.ts'

export interface WorkerConfig {
  readonly hubUrl: string
  /** Null: a hub of our own. */
  readonly foreign: ForeignConfig | null
  readonly dataFolder: string
  readonly name: string
  readonly join: string | null
  readonly trust: Trust
  readonly maxJobs: number | null
  readonly tags: readonly string[]
  readonly simulateGpus: string | null
  readonly allowUnsandboxed: boolean
  readonly allowHostNetwork: boolean
  readonly visiblePaths: readonly string[]
  /** The socket of the container engine, `none`, or null: looked for in the usual places. */
  readonly engine: string | null
  /** Patterns; empty: every image. */
  readonly allowedImages: readonly string[]
  readonly allowedMounts: readonly string[]
  readonly pulls: boolean
  /** Null: below the data folder. */
  readonly modelsFolder: string | null
  /** Hosts of private networks that models may be fetched from. */
  readonly modelHosts: readonly string[]
  /** Otherwise only models that are here are given. */
  readonly fetchesModels: boolean
  /** How often load is measured and told; null: as often as is usual. */
  readonly metricsMs: number | null
  readonly log: { readonly format: LogFormat; readonly level: LogLevel }
  /** Ends when its stdin does: whoever started it is gone. */
  readonly supervised: boolean
  /** Null: 20 GB, or a tenth of the disk if that is less. */
  readonly cacheBytes: number | null
  /** Null: below the data folder. */
  readonly environmentsFolder: string | null
  readonly environmentBytes: number
  /** Null: those that came with the worker. */
  readonly programsFolder: string | null
  /** For all transfers together. */
  readonly bytesPerSecond: number | null
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The only place that reads the command line and the environment of the worker process. */
export function readConfig(argv: readonly string[]): WorkerConfig {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...FOREIGN_OPTIONS,
      hub: { type: 'string' },
      data: { type: 'string' },
      name: { type: 'string' },
      join: { type: 'string' },
      pin: { type: 'string' },
      ca: { type: 'string' },
      proxy: { type: 'string' },
      'max-jobs': { type: 'string' },
      tag: { type: 'string', multiple: true },
      'simulate-gpus': { type: 'string' },
      'allow-unsandboxed': { type: 'boolean' },
      'allow-host-network': { type: 'boolean' },
      'log-format': { type: 'string' },
      'log-level': { type: 'string' },
      visible: { type: 'string', multiple: true },
      engine: { type: 'string' },
      'allow-image': { type: 'string', multiple: true },
      'allow-mount': { type: 'string', multiple: true },
      'no-pull': { type: 'boolean' },
      models: { type: 'string' },
      'model-host': { type: 'string', multiple: true },
      supervised: { type: 'boolean' },
      'cache-size': { type: 'string' },
      bandwidth: { type: 'string' },
      environments: { type: 'string' },
      'env-limit': { type: 'string' },
      programs: { type: 'string' },
    },
  })
  const foreign = foreignConfig(values, process.env.STOKER_HUB_LOGIN)
  const hubUrl = foreign?.url ?? values.hub
  if (hubUrl === undefined || !/^https?:\/\//.test(hubUrl))
    throw new Error(`--hub is an http or https address, found ${values.hub ?? 'nothing'}`)
  if (values.data === undefined)
    throw new Error('--data names the folder the worker keeps its identity and work in, found nothing')
  const maxJobs = values['max-jobs'] === undefined ? null : Number(values['max-jobs'])
  if (maxJobs !== null && !(Number.isInteger(maxJobs) && maxJobs >= 1 && maxJobs <= 100_000)) {
    throw new Error(`--max-jobs is a whole number from 1 to 100000, found ${values['max-jobs']}`)
  }
  return {
    hubUrl,
    foreign,
    dataFolder: values.data,
    name: values.name ?? hostname(),
    join: values.join ?? process.env.STOKER_JOIN ?? null,
    trust: trustOf(hubUrl, values),
    maxJobs,
    tags: values.tag ?? [],
    simulateGpus: values['simulate-gpus'] ?? null,
    allowUnsandboxed: values['allow-unsandboxed'] ?? false,
    allowHostNetwork: values['allow-host-network'] ?? false,
    visiblePaths: values.visible ?? [],
    engine: engineOf(values.engine),
    allowedImages: values['allow-image'] ?? listOf(process.env.ALLOWED_DOCKER_IMAGES),
    allowedMounts: foldersOf('--allow-mount', values['allow-mount'] ?? []),
    pulls: values['no-pull'] !== true,
    modelsFolder: values.models ?? process.env.MODEL_CACHE_DIR ?? null,
    modelHosts: values['model-host'] ?? [],
    fetchesModels: fetchesModels(process.env),
    metricsMs: metricsMs(process.env),
    log: logChoice({ format: values['log-format'], level: values['log-level'] }),
    supervised: values.supervised ?? false,
    cacheBytes: sizeOf('--cache-size is a size like 20GB', values['cache-size'], 0),
    environmentsFolder: values.environments ?? null,
    environmentBytes: environmentLimit(values['env-limit']),
    programsFolder: values.programs ?? null,
    bytesPerSecond: sizeOf('--bandwidth is a size per second, 10kB/s or more', values.bandwidth, 10_000),
    env: { ...process.env },
  }
}

function engineOf(text: string | undefined): string | null {
  if (text === undefined || text === 'none') return text ?? null
  const path = text.replace(/^unix:\/\//, '')
  if (!path.startsWith('/'))
    throw new Error(`--engine is the path of a Docker or podman socket, or "none", found ${text}`)
  return path
}

function foldersOf(option: string, folders: readonly string[]): readonly string[] {
  const wrong = folders.find(folder => !folder.startsWith('/') || folder.split('/').includes('..'))
  if (wrong !== undefined) throw new Error(`${option} is a folder that begins with "/", without "..", found ${wrong}`)
  return folders
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap(part => (part.trim() === '' ? [] : [part.trim()]))
}

interface TrustOptions {
  readonly pin?: string | undefined
  readonly ca?: string | undefined
  readonly proxy?: string | undefined
}

function trustOf(hub: string, { pin, ca, proxy }: TrustOptions): Trust {
  if (pin !== undefined && parsePin(pin) === null)
    throw new Error(`--pin is the SHA-256 of the hub's key like sha256/…=, found ${pin}`)
  if ((pin !== undefined || ca !== undefined) && !hub.startsWith('https:'))
    throw new Error(`--pin and --ca need an https hub, found ${hub}`)
  return { pin, ca: ca === undefined ? undefined : readFileSync(ca, 'utf8'), proxy: proxyFor(hub, process.env, proxy) }
}

function sizeOf(rule: string, text: string | undefined, least: number): number | null {
  if (text === undefined) return null
  const bytes = parseSize(text.replace(/\/s$/, ''))
  if (bytes === null || bytes < least) throw new Error(`${rule}, found ${text}`)
  return bytes
}

/** The options of a worker that serves the hub of another system. */
export const FOREIGN_OPTIONS = {
  backend: { type: 'string' },
  price: { type: 'string' },
  location: { type: 'string' },
  address: { type: 'string' },
  'progress-interval': { type: 'string' },
  'upload-url': { type: 'string' },
  scheduler: { type: 'string' },
  'worker-id': { type: 'string' },
} as const

export type ForeignValues = { readonly [Name in keyof typeof FOREIGN_OPTIONS]?: string | undefined } & {
  readonly hub?: string | undefined
  readonly name?: string | undefined
  readonly 'simulate-gpus'?: string | undefined
}

interface QubixConfig {
  readonly dialect: 'qubix'
  readonly pricePerHour: number
  /** Null: made from the worker's id. */
  readonly name: string | null
  readonly location: string
  readonly address: string | null
  readonly progressMs: number
  readonly uploadUrl: string | null
}

interface TrainforgeConfig {
  readonly dialect: 'trainforge'
  /** Null: the host name and a suffix that stays. */
  readonly workerId: string | null
}

export type ForeignConfig = (QubixConfig | TrainforgeConfig) & {
  readonly url: string
  /** `user:password` for the hub, kept out of everything that is shown. */
  readonly login: string | null
}

const DEFAULT_PROGRESS_S = 10

/** Which foreign hub is served, if any; `login` comes by the environment, where other users cannot read it. */
export function foreignConfig(values: ForeignValues, login: string | undefined): ForeignConfig | null {
  const named = (['hub', 'backend', 'scheduler'] as const).filter(name => values[name] !== undefined)
  if (named.length > 1)
    throw new Error(`a worker serves one hub, found ${named.map(name => `--${name}`).join(' and ')}`)
  const { backend, scheduler } = values
  const address = backend ?? scheduler
  if (address === undefined) return null
  if (values['simulate-gpus'] !== undefined)
    throw new Error('--simulate-gpus is for hubs that can say so; this one would take them for real')
  const at = hubAddress(backend === undefined ? '--scheduler' : '--backend', address)
  const of = { url: at.url, login: login ?? at.login }
  return backend === undefined ? { ...of, ...trainforgeConfig(values) } : { ...of, ...qubixConfig(values) }
}

function hubAddress(option: string, text: string): { readonly url: string; readonly login: string | null } {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new Error(`${option} is an http or https address, found ${text}`)
  const url = new URL(text)
  const login = url.username === '' ? null : `${decode(url.username)}:${decode(url.password)}`
  return { url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), login }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function qubixConfig(values: ForeignValues): QubixConfig {
  return {
    dialect: 'qubix',
    pricePerHour: numberOf('--price', values.price, 5, 0, 1e9),
    name: values.name ?? null,
    location: values.location ?? 'Local Network',
    address: identityOf(values.address),
    progressMs: 1000 * numberOf('--progress-interval', values['progress-interval'], DEFAULT_PROGRESS_S, 0.1, 3600),
    uploadUrl: uploadOf(values['upload-url']),
  }
}

function trainforgeConfig(values: ForeignValues): TrainforgeConfig {
  const workerId = values['worker-id'] ?? null
  if (workerId !== null && !isWorkerId(workerId))
    throw new Error(`--worker-id is a name of 1 to 200 characters that is no route of the hub, found ${workerId}`)
  return { dialect: 'trainforge', workerId }
}

/** Names of routes below /api/workers cannot be ids. */
const RESERVED = 'register unregister heartbeat jobs job-status stats distributed realtime strategy . ..'.split(' ')

function isWorkerId(text: string): boolean {
  return text.length >= 1 && text.length <= 200 && !RESERVED.includes(text) && !/\p{Cc}/u.test(text)
}

function numberOf(option: string, text: string | undefined, otherwise: number, least: number, most: number): number {
  if (text === undefined) return otherwise
  const number = Number(text)
  if (text.trim() !== '' && number >= least && number <= most) return number
  throw new Error(`${option} is a number from ${least} to ${most}, found ${text}`)
}

function identityOf(text: string | undefined): string | null {
  if (text === undefined || /^[A-Z]{60}$/.test(text)) return text ?? null
  throw new Error(`--address has 60 letters from A to Z, found ${text}`)
}

function uploadOf(text: string | undefined): string | null {
  if (text === undefined) return null
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new Error(`--upload-url is an http or https address, found ${text}`)
}

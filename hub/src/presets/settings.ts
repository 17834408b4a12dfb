import { DIFFICULTIES, parseSize } from '@stoker/protocol'

const QUOTA_OF_ONE_CPU = 100_000
const DOCKER_UNITS: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** What the environment of the hub decides about presets, their sessions and the GPU-service API. */
export interface Settings {
  readonly defaultTimeoutMs: number
  readonly maxTimeoutMs: number
  /** What a program of a preset gets that asks for no memory; null where nobody said: no part of a worker is set aside. */
  readonly taskMemoryBytes: number | null
  readonly taskCpus: number
  readonly sessionIdleMs: number
  readonly sessionLifetimeMs: number
  readonly sessionQueue: number
  readonly sessionMonitorMs: number
  readonly internalApiKey: string | null
  readonly corsOrigins: readonly string[]
  /** By the index of the device. */
  readonly deviceDifficulty: ReadonlyMap<string, (typeof DIFFICULTIES)[number]>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Throws a sentence for a value that makes no sense: a limit that is not understood would be no limit. */
export function readSettings(env: Environment): Settings {
  const settings: Settings = {
    defaultTimeoutMs: seconds(env, 'DEFAULT_TASK_TIMEOUT', 300),
    maxTimeoutMs: seconds(env, 'MAX_TASK_TIMEOUT', 1800),
    taskMemoryBytes: memory(env),
    taskCpus: whole(env, 'TASK_CPU_QUOTA', QUOTA_OF_ONE_CPU, 1000) / QUOTA_OF_ONE_CPU,
    sessionIdleMs: seconds(env, 'SESSION_IDLE_TIMEOUT_SECONDS', 300),
    sessionLifetimeMs: seconds(env, 'SESSION_MAX_LIFETIME_SECONDS', 3600),
    sessionQueue: whole(env, 'SESSION_QUEUE_MAX_SIZE', 5, 0),
    sessionMonitorMs: seconds(env, 'SESSION_MONITOR_INTERVAL', 30),
    internalApiKey: given(env.INTERNAL_API_KEY) ?? null,
    corsOrigins: origins(env),
    deviceDifficulty: difficulties(env),
  }
  if (settings.defaultTimeoutMs > settings.maxTimeoutMs)
    throw new Error(
      `DEFAULT_TASK_TIMEOUT is ${settings.defaultTimeoutMs / 1000} s, above MAX_TASK_TIMEOUT, which is ${settings.maxTimeoutMs / 1000} s`,
    )
  return settings
}

function seconds(env: Environment, name: string, byDefault: number): number {
  const text = given(env[name])
  if (text === undefined) return byDefault * 1000
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0)
    throw new Error(`${name} is a number of seconds above 0, found "${text}" (without it: ${byDefault})`)
  return Math.round(value * 1000)
}

function whole(env: Environment, name: string, byDefault: number, least: number): number {
  const text = given(env[name])
  if (text === undefined) return byDefault
  const value = Number(text)
  if (!Number.isInteger(value) || value < least)
    throw new Error(`${name} is a whole number of ${least} or more, found "${text}" (without it: ${byDefault})`)
  return value
}

/** As engines write it, `16g` in 1024s, or as job specs do. */
function memory(env: Environment): number | null {
  const text = given(env.TASK_MEMORY_LIMIT)
  if (text === undefined) return null
  const [, amount, unit = 'b'] = /^(\d+(?:\.\d+)?)([bkmg])?$/i.exec(text) ?? []
  const bytes = amount === undefined ? parseSize(text) : Number(amount) * (DOCKER_UNITS[unit.toLowerCase()] ?? 1)
  if (bytes === null || bytes < 2 ** 20)
    throw new Error(`TASK_MEMORY_LIMIT is a size of 1 MiB or more like "16g", found "${text}"`)
  return Math.round(bytes)
}

function origins(env: Environment): string[] {
  const list = commas(env.CORS_ORIGINS)
  const wrong = list.find(origin => origin !== '*' && !/^https?:\/\/[^/\s]+$/.test(origin))
  if (wrong !== undefined)
    throw new Error(`CORS_ORIGINS is a list of origins like "https://app.example", or "*", found "${wrong}"`)
  return list
}

function difficulties(env: Environment): Settings['deviceDifficulty'] {
  return new Map(
    commas(env.GPU_DEVICE_DIFFICULTY).map(pair => {
      const [device = '', word = '', ...more] = pair.split(':').map(part => part.trim())
      const difficulty = DIFFICULTIES.find(known => known === word)
      if (difficulty === undefined || !/^\d+$/.test(device) || more.length > 0)
        throw new Error(`GPU_DEVICE_DIFFICULTY is a list like "0:low,1:high", found "${pair}"`)
      return [device, difficulty]
    }),
  )
}

function commas(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

/** An empty variable counts as none. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}

import { parseArgs } from 'node:util'
import { parseDuration } from '@stoker/protocol'
import { DEFAULT_RETENTION, type Retention } from './retention/settings.ts'

export type HubCommand =
  | {
      readonly command: 'serve'
      readonly data: string
      readonly host: string
      readonly port: number
      readonly retention: Retention
    }
  | { readonly command: 'backup'; readonly data: string; readonly to: string }
  | { readonly command: 'restore'; readonly data: string; readonly from: string }
  | { readonly command: 'verify'; readonly data: string; readonly json: boolean }

/** The only place that reads the command line of the hub process. */
export function readCommand(argv: readonly string[]): HubCommand {
  const [command, ...rest] = argv
  const { values } = parseArgs({
    args: rest,
    options: {
      data: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '7070' },
      'keep-jobs': { type: 'string' },
      'keep-logs': { type: 'string' },
      'keep-artifacts': { type: 'string' },
      'keep-unused-uploads': { type: 'string' },
      to: { type: 'string' },
      from: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const data = needed(values.data, '--data')
  if (command === 'serve')
    return { command, data, host: values.host, port: portOf(values.port), retention: retentionOf(values) }
  if (command === 'backup') return { command, data, to: needed(values.to, '--to') }
  if (command === 'restore') return { command, data, from: needed(values.from, '--from') }
  if (command === 'verify') return { command, data, json: values.json }
  throw new Error(`unknown command ${command ?? '(none)'}; known: serve, backup, restore, verify`)
}

function needed(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new Error(`${option} is needed, found nothing`)
  return value
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port is a whole number from 0 to 65535, found ${text}`)
  return port
}

function retentionOf(values: Readonly<Record<string, string | boolean | undefined>>): Retention {
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
  }
}

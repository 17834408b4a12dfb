import { parseArgs } from 'node:util'
import { type LogFormat, type LogLevel, logChoice } from '@stoker/files'

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
      to: { type: 'string' },
      from: { type: 'string' },
      'webhook-allow': { type: 'string', multiple: true },
      'log-format': { type: 'string' },
      'log-level': { type: 'string' },
      json: { type: 'boolean', default: false },
      supervised: { type: 'boolean', default: false },
      'rate-limit': { type: 'string' },
      'insecure-secrets': { type: 'boolean', default: false },
    },
  })
  const data = needed(values.data, '--data')
  if (command === 'serve')
    return {
      command,
      data,
      host: values.host,
      port: portOf(values.port),
      webhookHosts: values['webhook-allow'] ?? [],
      log: logChoice({ format: values['log-format'], level: values['log-level'] }),
      supervised: values.supervised,
      insecureSecrets: values['insecure-secrets'],
      rateLimit: rateOf(values['rate-limit']),
    }
  if (command === 'backup') return { command, data, to: needed(values.to, '--to') }
  if (command === 'restore') return { command, data, from: needed(values.from, '--from') }
  if (command === 'verify') return { command, data, json: values.json }
  throw new Error(`unknown command ${command ?? '(none)'}; known: serve, backup, restore, verify`)
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

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port is a whole number from 0 to 65535, found ${text}`)
  return port
}

import { parseArgs } from 'node:util'
import { POLICY_NAMES, type PolicyName } from '@stoker/protocol'

export type HubCommand =
  | {
      readonly command: 'serve'
      readonly data: string
      readonly host: string
      readonly port: number
      readonly policy: PolicyName
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
      policy: { type: 'string', default: 'packed' },
      to: { type: 'string' },
      from: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const data = needed(values.data, '--data')
  if (command === 'serve')
    return { command, data, host: values.host, port: portOf(values.port), policy: policyOf(values.policy) }
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

function policyOf(text: string): PolicyName {
  const policy = POLICY_NAMES.find(name => name === text)
  if (policy === undefined) throw new Error(`--policy is one of ${POLICY_NAMES.join(', ')}, found ${text}`)
  return policy
}

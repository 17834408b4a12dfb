import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { saveContext } from '../contexts.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { gatherText, wholeNumber } from '../spec/spec-options.ts'
import { logArgs } from './log-options.ts'

/** The context of the hub that was last started on this machine. */
export const LOCAL_CONTEXT = 'local'

export interface HubOptions {
  readonly data?: string | undefined
  readonly host: string
  readonly port: number
  readonly webhookAllow?: readonly string[] | undefined
  readonly insecureSecrets?: boolean | undefined
  readonly rateLimit?: number | undefined
  readonly logFormat?: string | undefined
  readonly logLevel?: string | undefined
}

/** What `hub` and `up` can say about the hub. */
export function withHubOptions(command: Command, io: Io): Command {
  return command
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <n>', 'port to listen on', wholeNumber, 7070)
    .option('--data <folder>', `where everything is kept (${io.config.dataFolder})`)
    .option('--rate-limit <n>', 'requests a second of one owner (2000; 0: any number)', wholeNumber)
    .option('--insecure-secrets', 'send secrets to workers also without TLS')
    .option(
      '--webhook-allow <host>',
      'let webhooks post to this host though its address is private (repeatable)',
      gatherText,
    )
}

export interface HubPlace {
  readonly folder: string
  readonly tokenFile: string
  readonly args: readonly string[]
}

export function hubPlace(io: Io, options: HubOptions): HubPlace {
  const { data, host, port, webhookAllow = [], insecureSecrets, rateLimit } = options
  const folder = join(data ?? io.config.dataFolder, 'hub')
  const args = ['serve', '--data', folder, '--host', host, '--port', String(port)]
  args.push(...webhookAllow.flatMap(each => ['--webhook-allow', each]), ...logArgs(options))
  if (insecureSecrets === true) args.push('--insecure-secrets')
  if (rateLimit !== undefined) args.push('--rate-limit', String(rateLimit))
  return { folder, tokenFile: join(folder, 'admin-token'), args }
}

export interface HubReady {
  readonly url: string
  readonly epoch: number
}

export function hubReadyOf(ready: Readonly<Record<string, unknown>>): HubReady {
  const { url, epoch } = ready
  if (typeof url === 'string' && typeof epoch === 'number') return { url, epoch }
  throw new Failure(`the hub should say its url and epoch, it said ${JSON.stringify(ready)}`)
}

/** Makes the hub known to the other commands: the token goes from its file into the context, nobody sees it. */
export async function adoptHub(io: Io, url: string, tokenFile: string): Promise<{ token: string; current: string }> {
  const token = (await readFile(tokenFile, 'utf8')).trim()
  const current = await saveContext(io.config.contextsFile, LOCAL_CONTEXT, { url, token })
  return { token, current }
}

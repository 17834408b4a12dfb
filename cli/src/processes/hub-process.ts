import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { POLICY_NAMES } from '@stoker/protocol'
import { type Command, Option } from 'commander'
import { saveContext } from '../contexts.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { gatherText, wholeNumber } from '../spec/spec-options.ts'
import { logArgs } from './log-options.ts'
import { type RetentionOptions, retentionArgs } from './retention-options.ts'

/** The context of the hub that was last started on this machine. */
export const LOCAL_CONTEXT = 'local'

export interface HubOptions extends RetentionOptions {
  readonly data?: string | undefined
  readonly host: string
  readonly port: number
  readonly policy: string
  readonly listen?: readonly string[] | undefined
  readonly tls?: string | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
  readonly insecure?: boolean | undefined
  readonly webhookAllow?: readonly string[] | undefined
  readonly insecureSecrets?: boolean | undefined
  readonly rateLimit?: number | undefined
  /** True: on the customary port. */
  readonly gpuService?: string | true | undefined
  readonly qubixPort?: number | undefined
  readonly qubixOpen?: boolean | undefined
  readonly presets?: string | undefined
  readonly trainforgePort?: number | undefined
  readonly trainforgeOpen?: boolean | undefined
  readonly legacyFilesDir?: string | undefined
  readonly logFormat?: string | undefined
  readonly logLevel?: string | undefined
}

/** What `hub` and `up` can say about the hub. */
export function withHubOptions(command: Command, io: Io): Command {
  return command
    .option('--host <address>', 'address to listen on without TLS', '127.0.0.1')
    .option('-p, --port <n>', 'port to listen on', wholeNumber, 7070)
    .option('--listen <url>', 'one more address, like https://0.0.0.0:7443 (repeatable)', gatherText)
    .option('--tls <self-signed>', 'listen on https://0.0.0.0:7443 with a certificate of its own')
    .option('--tls-cert <file>', 'certificate for https addresses, in PEM form')
    .option('--tls-key <file>', 'its key')
    .option('--insecure', 'allow plain HTTP where other machines can reach it')
    .addOption(
      new Option('--policy <name>', 'fill workers one by one, or load them evenly')
        .choices(POLICY_NAMES)
        .default('packed'),
    )
    .option('--data <folder>', `where everything is kept (${io.config.dataFolder})`)
    .option('--presets <folder>', 'where presets are ($STOKER_PRESETS, else presets in the data folder)')
    .option('--rate-limit <n>', 'requests a second of one owner (2000; 0: any number)', wholeNumber)
    .option('--gpu-service [port]', 'the GPU-service API also on a port of its own (8001); it is at /gpu anyway')
    .option(
      '--qubix-port <n>',
      'QUBIX workers and clients also on a port of their own (3001); they are at /qubix anyway',
      wholeNumber,
    )
    .option('--qubix-open', 'let QUBIX workers and clients of this machine in without a token')
    .option(
      '--trainforge-port <n>',
      'TrainForge also on a port of its own (3000); it is at /trainforge anyway',
      wholeNumber,
    )
    .option('--trainforge-open', 'let TrainForge workers of this machine in without a token')
    .option('--legacy-files-dir <folder>', 'make project folders for TrainForge nodes here too, like /tmp/trainforge')
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

export function hubPlace(io: Io, { data, host, port, ...of }: HubOptions): HubPlace {
  const folder = join(data ?? io.config.dataFolder, 'hub')
  const args = [
    ...['serve', '--data', folder, '--host', host, '--port', String(port), '--policy', of.policy],
    ...(of.listen ?? []).flatMap(url => ['--listen', url]),
    ...(of.tls === undefined ? [] : ['--tls', of.tls]),
    ...(of.tlsCert === undefined ? [] : ['--tls-cert', of.tlsCert]),
    ...(of.tlsKey === undefined ? [] : ['--tls-key', of.tlsKey]),
    ...(of.insecure === true ? ['--insecure'] : []),
    ...(of.webhookAllow ?? []).flatMap(each => ['--webhook-allow', each]),
    ...(of.insecureSecrets === true ? ['--insecure-secrets'] : []),
    ...['--presets', presetsFolder(io, { data, presets: of.presets })],
    ...(of.rateLimit === undefined ? [] : ['--rate-limit', String(of.rateLimit)]),
    ...(of.gpuService === undefined ? [] : ['--gpu-service', ...(of.gpuService === true ? [] : [of.gpuService])]),
    ...(of.qubixPort === undefined ? [] : ['--qubix-port', String(of.qubixPort)]),
    ...(of.qubixOpen === true ? ['--qubix-open'] : []),
    ...(of.trainforgePort === undefined ? [] : ['--trainforge-port', String(of.trainforgePort)]),
    ...(of.trainforgeOpen === true ? ['--trainforge-open'] : []),
    ...(of.legacyFilesDir === undefined ? [] : ['--legacy-files-dir', resolve(io.folder, of.legacyFilesDir)]),
    ...retentionArgs(of),
    ...logArgs(of),
  ]
  return { folder, tokenFile: join(folder, 'admin-token'), args }
}

/** Where a hub on this machine looks for presets. */
export function presetsFolder(io: Io, { data, presets }: Pick<HubOptions, 'data' | 'presets'>): string {
  return resolve(io.folder, presets ?? io.config.presets ?? join(data ?? io.config.dataFolder, 'presets'))
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

import { readdir } from 'node:fs/promises'
import { type Client, HubRefused } from '@stoker/client'
import type { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { gatherText, wholeNumber } from '../spec/spec-options.ts'
import { type LogOptions, logArgs } from './log-options.ts'

export interface WorkerOptions extends LogOptions {
  readonly data?: string | undefined
  readonly name?: string | undefined
  readonly maxJobs?: number | undefined
  readonly tag?: readonly string[] | undefined
  readonly simulateGpus?: string | undefined
  readonly visible?: readonly string[] | undefined
  readonly engine?: string | undefined
  readonly allowImage?: readonly string[] | undefined
  readonly allowMount?: readonly string[] | undefined
  /** False when pulls were forbidden. */
  readonly pull?: boolean | undefined
  readonly models?: string | undefined
  readonly modelHost?: readonly string[] | undefined
  readonly cacheSize?: string | undefined
  readonly bandwidth?: string | undefined
  readonly environments?: string | undefined
  readonly envLimit?: string | undefined
  readonly programs?: string | undefined
  readonly allowUnsandboxed?: boolean | undefined
  readonly allowHostNetwork?: boolean | undefined
  readonly pin?: string | undefined
  readonly ca?: string | undefined
  readonly proxy?: string | undefined
}

/** Long enough for a slow start, short enough to be worthless when found later. */
const JOIN_SECONDS = 600

export function withWorkerOptions(command: Command): Command {
  return command
    .option('--name <name>', 'name of the worker (the host name)')
    .option('--max-jobs <n>', 'how many jobs at once (twice the cores)', wholeNumber)
    .option('--tag <tag>', 'a tag jobs can ask for (repeatable)', gatherText)
    .option('--simulate-gpus <N[xSIZE]>', 'pretend to have GPUs, like 2 or 2x80GB; marked as simulated everywhere')
    .option('--visible <path>', 'a path programs in the sandbox may read (repeatable)', gatherText)
    .option('--engine <socket>', 'Docker or podman socket for containers, or "none" (looked for in the usual places)')
    .option('--allow-image <pattern>', 'an image jobs may use, with * (repeatable; every image)', gatherText)
    .option('--allow-mount <folder>', 'a folder below which jobs may mount (repeatable; none)', gatherText)
    .option('--no-pull', 'never fetch images')
    .option('--models <folder>', 'where models are kept (models in the data folder)')
    .option('--model-host <host>', 'a host of a private network to fetch models from (repeatable)', gatherText)
    .option('--cache-size <size>', 'how much is kept of inputs (20GB, or a tenth of the disk)')
    .option('--bandwidth <size>', 'cap for files in and out together, like 10MB/s')
    .option('--environments <folder>', 'where packages of jobs are installed (environments in the data folder)')
    .option('--env-limit <size>', 'how much installed packages may take (20GB)')
    .option('--programs <folder>', 'programs of job types (those that come along)')
    .option('--allow-host-network', 'let jobs ask for the network of this machine')
}

export function workerArgs(hub: string, folder: string, of: WorkerOptions): string[] {
  return ['--hub', hub, ...workerOptionArgs(folder, of)]
}

/** All that a worker is told beside its hub. */
export function workerOptionArgs(folder: string, of: WorkerOptions): string[] {
  return [
    ...['--data', folder],
    ...(of.name === undefined ? [] : ['--name', of.name]),
    ...(of.maxJobs === undefined ? [] : ['--max-jobs', String(of.maxJobs)]),
    ...(of.tag ?? []).flatMap(tag => ['--tag', tag]),
    ...(of.simulateGpus === undefined ? [] : ['--simulate-gpus', of.simulateGpus]),
    ...(of.visible ?? []).flatMap(path => ['--visible', path]),
    ...(of.engine === undefined ? [] : ['--engine', of.engine]),
    ...(of.allowImage ?? []).flatMap(pattern => ['--allow-image', pattern]),
    ...(of.allowMount ?? []).flatMap(folder => ['--allow-mount', folder]),
    ...(of.pull === false ? ['--no-pull'] : []),
    ...(of.models === undefined ? [] : ['--models', of.models]),
    ...(of.modelHost ?? []).flatMap(host => ['--model-host', host]),
    ...(of.cacheSize === undefined ? [] : ['--cache-size', of.cacheSize]),
    ...(of.bandwidth === undefined ? [] : ['--bandwidth', of.bandwidth]),
    ...(of.environments === undefined ? [] : ['--environments', of.environments]),
    ...(of.envLimit === undefined ? [] : ['--env-limit', of.envLimit]),
    ...(of.programs === undefined ? [] : ['--programs', of.programs]),
    ...(of.allowUnsandboxed === true ? ['--allow-unsandboxed'] : []),
    ...(of.pin === undefined ? [] : ['--pin', of.pin]),
    ...(of.ca === undefined ? [] : ['--ca', of.ca]),
    ...(of.proxy === undefined ? [] : ['--proxy', of.proxy]),
    ...(of.allowHostNetwork === true ? ['--allow-host-network'] : []),
    ...logArgs(of),
  ]
}

/** A token for one registration; only an admin can make one. */
export async function makeJoinToken(client: Client, label: string): Promise<string> {
  try {
    return (await client.createToken({ role: 'join', label, expiresInSeconds: JOIN_SECONDS })).secret
  } catch (error) {
    if (!(error instanceof HubRefused) || error.problem.status !== 403) throw error
    throw new Failure('a new worker needs a join token, your token may not make one', {
      exitCode: EXIT.notAllowed,
      code: error.problem.code,
      details: ['ask an admin for:  stoker token create --role join > FILE', 'then:  stoker worker --join-file FILE'],
      cause: error,
    })
  }
}

/** A folder with something in it is a worker that made its identity before. */
export async function isNewWorker(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch {
    return true
  }
}

export function workerReadyOf(ready: Readonly<Record<string, unknown>>): { id: string; name: string } {
  const { workerId, name } = ready
  if (typeof workerId === 'string' && typeof name === 'string') return { id: workerId, name }
  throw new Failure(`the worker should say its id and name, it said ${JSON.stringify(ready)}`)
}

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '@stoker/client'
import { freePort } from '@stoker/net'
import { nodeEnv, nodeFlags } from '../../../cli/src/processes/node-flags.ts'
import { type Child, startChild } from '../processes/child.ts'

/** Where our own bundles are, and whether V8 is to profile them. */
export interface Bundles {
  readonly distFolder: string
  readonly profileFolder: string | null
}

export interface Hub {
  readonly folder: string
  readonly url: string
  readonly token: string
  readonly client: Client
  readonly pid: () => number
  stop(): Promise<void>
  /** Killed as by a power cut of its process, then started on the same folder and port; resolves when it serves again. */
  killAndRestart(): Promise<{ readonly restartedAt: number }>
}

/** A hub as a user starts it: the bundle, a data folder, a port, perhaps further options. */
export async function startHub(bundles: Bundles, folder: string, options: readonly string[] = []): Promise<Hub> {
  const port = await freePort()
  const start = () => startNode(bundles, 'hub', ['serve', '--data', folder, '--port', String(port), ...options])
  let child = await start()
  const url = `http://127.0.0.1:${port}`
  const token = (await readFile(join(folder, 'admin-token'), 'utf8')).trim()
  const client = createClient({ url, token })
  return {
    folder,
    url,
    token,
    client,
    pid: () => child.pid,
    async stop() {
      client.close()
      await child.stop()
    },
    async killAndRestart() {
      await child.kill()
      const restartedAt = performance.now()
      child = await start()
      return { restartedAt }
    },
  }
}

export interface WorkerOptions {
  readonly maxJobs: number
  readonly name?: string | undefined
  /** Where it dials, if that is not the hub's own address. */
  readonly dials?: string | undefined
  /** The socket of a container engine. */
  readonly engine?: string | undefined
  /** For Node itself. */
  readonly nodeArgs?: readonly string[] | undefined
}

/** A worker as a user starts it; resolves when the hub has welcomed it. One that has a folder already comes back as the same worker. */
export async function startWorker(
  bundles: Bundles,
  hub: Hub,
  folder: string,
  { maxJobs, name = `bench-${maxJobs}`, dials = hub.url, engine, nodeArgs }: WorkerOptions,
): Promise<Child> {
  const invited = existsSync(folder) ? [] : ['--join', (await hub.client.createToken({ role: 'join' })).secret]
  const args = ['--hub', dials, '--data', folder, '--name', name, '--max-jobs', String(maxJobs), ...invited]
  if (engine !== undefined) args.push('--engine', engine)
  return startNode(bundles, 'worker', [...args, '--allow-unsandboxed'], nodeArgs)
}

function startNode(
  { distFolder, profileFolder }: Bundles,
  name: 'hub' | 'worker',
  args: readonly string[],
  nodeArgs: readonly string[] = [],
): Promise<Child> {
  const profiling = profileFolder === null ? [] : profilingFlags(join(profileFolder, name))
  const file = join(distFolder, `${name}.js`)
  return startChild({
    name,
    command: process.execPath,
    args: [...nodeFlags(file), ...profiling, ...nodeArgs, file, ...args],
    ready: /"ready":true/,
    env: { ...process.env, ...nodeEnv(file, process.env) },
  })
}

/** V8 names the files itself, one for each thread. */
function profilingFlags(folder: string): readonly string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--heap-prof', `--heap-prof-dir=${folder}`]
}

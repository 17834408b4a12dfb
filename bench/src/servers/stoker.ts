import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '@stoker/client'
import { freePort } from '@stoker/net'
import { type Child, startChild } from '../processes/child.ts'

/** Where our own bundles are, and whether V8 is to profile them. */
export interface Bundles {
  readonly distFolder: string
  readonly profileFolder: string | null
}

export interface Hub {
  readonly url: string
  readonly token: string
  readonly client: Client
  readonly pid: () => number
  stop(): Promise<void>
  /** Killed as by a power cut of its process, then started on the same folder and port; resolves when it serves again. */
  killAndRestart(): Promise<{ readonly restartedAt: number }>
}

/** A hub as a user starts it: the bundle, a data folder, a port. */
export async function startHub(bundles: Bundles, folder: string): Promise<Hub> {
  const port = await freePort()
  const start = () => startNode(bundles, 'hub', ['serve', '--data', folder, '--port', String(port)])
  let child = await start()
  const url = `http://127.0.0.1:${port}`
  const token = (await readFile(join(folder, 'admin-token'), 'utf8')).trim()
  const client = createClient({ url, token })
  return {
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

/** A worker as a user starts it; resolves when the hub has welcomed it. */
export async function startWorker(
  bundles: Bundles,
  hub: Hub,
  folder: string,
  options: { readonly maxJobs: number },
): Promise<Child> {
  const { secret } = await hub.client.createToken({ role: 'join' })
  const args = ['--hub', hub.url, '--data', folder, '--join', secret, '--name', `bench-${options.maxJobs}`]
  return startNode(bundles, 'worker', [...args, '--max-jobs', String(options.maxJobs), '--allow-unsandboxed'])
}

function startNode({ distFolder, profileFolder }: Bundles, name: 'hub' | 'worker', args: string[]): Promise<Child> {
  // V8 names the files itself, one for each thread.
  const profiling = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profileFolder, name)}`]
  return startChild({
    name,
    command: process.execPath,
    args: [...profiling, join(distFolder, `${name}.js`), ...args],
    ready: /"ready":true/,
  })
}

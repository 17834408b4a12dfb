import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { programAbilities } from '../abilities.ts'
import { type BuildMeans, buildMeans } from '../environments/build-means.ts'
import type { Python } from '../environments/environment-key.ts'
import { EnvironmentStore } from '../environments/environment-store.ts'
import { createProcessExecutor } from '../executors/process-executor.ts'

export interface BenchOptions {
  readonly folder: string
  readonly limitBytes: number
  readonly python: Python
  /** As a worker of this machine would have it. */
  readonly allowUnsandboxed: boolean
  readonly allowHostNetwork: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Lets something use the environments of a machine as a worker would, beside the worker that may run there. */
export async function withStore<T>(
  options: BenchOptions,
  work: (store: EnvironmentStore, holder: string) => Promise<T>,
): Promise<T> {
  const { folder, limitBytes, python, env } = options
  const own = await mkdtemp(join(tmpdir(), 'stoker-env-'))
  const executor = createProcessExecutor({ runtimeDir: join(own, 'run'), python: python.path, slots: 1 })
  let means: Promise<BuildMeans | string> | null = null
  const findMeans = async () => buildMeans(await programAbilities(options, python.path, () => {}), env)
  try {
    const store = await EnvironmentStore.open({
      ...{ folder, limitBytes, executor, now: Date.now, changed: () => {} },
      means: () => {
        means ??= findMeans()
        return means
      },
    })
    return await work(store, own)
  } finally {
    await executor.close('kill')
    await removeTree(own)
  }
}

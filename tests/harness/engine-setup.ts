import { existsSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { TestProject } from 'vitest/node'
import { stopEngine } from './engine.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the shared container engines of a test run are. */
    engines: string
  }
}

/** A place for engines, which the first test that needs one starts; what was started is stopped after the last. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'stoker-engines-'))
  project.provide('engines', home)
  return async () => {
    for (const kind of ['docker', 'podman'] as const) {
      const folder = join(home, kind)
      if (!existsSync(join(folder, 'pid'))) continue
      const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
      await stopEngine({ kind, folder, socket: join(folder, 'e.sock'), pid })
    }
    await removeTree(home)
  }
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processStart } from '@stoker/files'
import { afterEach, beforeEach } from 'vitest'

/** A folder that comes first on PATH, with scripts that stand in for tools this machine may not have. */
export interface StandIns {
  readonly folder: () => string
  readonly env: () => NodeJS.ProcessEnv
  readonly write: (name: string, script: string) => Promise<void>
}

/** Each test starts with none; what `write` puts there is found before, and without `env` never instead of, the real tool. */
export function useStandIns(): StandIns {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stoker-probe-'))
  })
  afterEach(() => rm(folder, { recursive: true }))
  return {
    folder: () => folder,
    env: () => ({ PATH: `${folder}:/usr/bin:/bin` }),
    write: (name, script) => writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
  }
}

/** Those of the processes that still run; the scripts write their pids where a test can read them. */
export async function stillRunning(pids: readonly number[]): Promise<number[]> {
  const starts = await Promise.all(pids.map(pid => processStart(pid)))
  return pids.filter((_, index) => starts[index] !== null)
}

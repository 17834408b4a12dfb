import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** Gives every test of a file a folder of its own, gone after it; the returned function names the current one. */
export function useTestFolder(): () => string {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stoker-files-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return () => folder
}

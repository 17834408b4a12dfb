import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FolderLocked, lockFolder } from '@stoker/files'
import { inject } from 'vitest'
import {
  type EngineKind,
  type EngineOptions,
  offlineImage,
  startEngine,
  type TestEngine,
  whyNoEngine,
} from './engine.ts'

const LOOK_EVERY_MS = 30

/** The engine all tests of a run share, started by the first that asks; a string says why there is none here. */
export async function sharedEngine(kind: EngineKind): Promise<TestEngine | string> {
  const missing = whyNoEngine(kind)
  if (missing !== null) return missing
  return alone(async home => {
    const folder = join(home, kind)
    if (!existsSync(join(folder, 'pid'))) return startEngine(kind, folder, await offlineImage(home), { gpuStub: true })
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    return { kind, folder, socket: join(folder, 'e.sock'), pid }
  })
}

/** For tests that kill an engine: one of their own, with the same image. */
export async function ownEngine(folder: string, options: EngineOptions = {}): Promise<TestEngine> {
  const image = await alone(offlineImage)
  return startEngine('docker', folder, image, options)
}

async function alone<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = inject('engines')
  for (;;) {
    const lock = await lockFolder(home).catch(error => {
      if (error instanceof FolderLocked) return null
      throw error
    })
    if (lock === null) {
      await sleep(LOOK_EVERY_MS)
      continue
    }
    try {
      return await work(home)
    } finally {
      await lock.release()
    }
  }
}

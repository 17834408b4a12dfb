import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packTar, sha256, type TarEntry } from '@stoker/files'
import type { WorkerBundle } from './api/context.ts'

/** Parts of the build that a worker's machine has no use for. */
const OF_THE_HUB = /^(hub(-.+)?\.js|sim\.js|sqlite-thread\.js|trainforge-runner\.py)$/

/** The built programs beside the hub, packed at the first request and kept; null where there is no build. */
export function workerBundleIn(folder: string): () => Promise<WorkerBundle | null> {
  let packed: Promise<WorkerBundle | null> | null = null
  return () => {
    packed ??= pack(folder).catch(error => {
      packed = null
      throw error
    })
    return packed
  }
}

async function pack(folder: string): Promise<WorkerBundle | null> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && !OF_THE_HUB.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  if (!names.includes('worker.js') || !names.includes('stoker.js')) return null
  const entries = await Promise.all(names.map(async name => ({ name, bytes: await readFile(join(folder, name)) })))
  const bytes = await promisify(gzip)(packTar([MODULES, ...entries]))
  return { bytes, sha256: sha256(bytes) }
}

const MODULES: TarEntry = { name: 'package.json', bytes: Buffer.from('{"type":"module"}\n') }

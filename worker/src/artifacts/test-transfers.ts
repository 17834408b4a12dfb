import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JobSpecInput, type Offer, parseJobSpec } from '@stoker/protocol'
import { afterEach, beforeEach } from 'vitest'
import { type BlobHub, startBlobHub } from '../../../net/src/content/test-blob-hub.ts'
import { nativeContent } from '../links/native/native-content.ts'
import { InputCache } from './input-cache.ts'

/** Gives every test of a file a hub with content, a folder and a cache in it, all gone after it. */
export function useTransfers(maxBytes = 1e9) {
  const state: { hub?: BlobHub; folder: string; cache?: InputCache } = { folder: '' }
  beforeEach(async () => {
    state.hub = await startBlobHub()
    state.folder = await mkdtemp(join(tmpdir(), 'stoker-transfers-'))
    state.cache = await InputCache.open(join(state.folder, 'cache'), maxBytes)
  })
  afterEach(async () => {
    await state.hub?.close()
    await rm(state.folder, { recursive: true })
  })
  const there = () => {
    const { hub, cache, folder } = state
    if (hub === undefined || cache === undefined) throw new Error('a test has its hub only while it runs')
    const contentOf = nativeContent(hub.url, { workerId: 'w', secret: 's' }, {})
    return { hub, folder, cache, contentOf, transfers: { cache, contentOf } }
  }
  return there
}

export function anOffer(spec: JobSpecInput = {}, job = 1): Offer {
  const parsed = parseJobSpec({ command: 'x', ...spec })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { fence: { job, epoch: 1, attempt: 1 }, id: 'x', spec: parsed.spec, gpus: [] }
}

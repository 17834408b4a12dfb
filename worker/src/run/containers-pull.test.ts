import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Progress } from '@stoker/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sharedEngine } from '../../../tests/harness/engine-shared.ts'
import { EngineWatch } from '../probe/engine/engine-watch.ts'
import { findEngine } from '../probe/engine/find-engine.ts'
import { Declined } from './declined.ts'
import { bringImage } from './pull-image.ts'
import { type Slowness, startRegistry, type TestRegistry } from './test-registry.ts'

const engine = await sharedEngine('docker')

describe('with a real Docker engine and a real registry', () => {
  if (typeof engine === 'string') return it('pulls are not tried here', context => context.skip(engine))
  let registry: TestRegistry | null = null
  afterEach(async () => {
    await registry?.close()
    registry = null
  })

  const shown: Progress[] = []
  const watch = (more: object = {}) => ({
    signal: new AbortController().signal,
    now: Date.now,
    onProgress: (progress: Progress) => void shown.push(progress),
    ...more,
  })
  const PULLS = { pulls: true }

  async function serve(slowness?: Slowness): Promise<string> {
    const layers = [
      { path: 'bin/busybox', bytes: await readFile('/bin/busybox') },
      { path: 'data/noise', bytes: randomBytes(3_000_000) },
    ]
    registry = await startRegistry({ layers, command: ['/bin/busybox', 'sleep', '1000'] }, slowness)
    return `${registry.host}/tool:v1`
  }

  it('a missing image is fetched with layers and bytes shown, and only once', async () => {
    const image = await serve()
    shown.length = 0
    expect(await bringImage(engine.socket, { image, pull: 'missing' }, PULLS, watch())).toBe(true)
    expect(shown[0]?.operation).toBe(`pulling ${image}`)
    expect(shown.at(-1)).toMatchObject({ percent: 100, metrics: { layers: 2, layersDone: 2 } })
    expect(shown.at(-1)?.operation).toMatch(/2 of 2 layers, \d\.\d MB of \d\.\d MB/)
    const asked = registry?.asked.length
    expect(await bringImage(engine.socket, { image, pull: 'missing' }, PULLS, watch())).toBe(false)
    expect(await bringImage(engine.socket, { image, pull: 'never' }, { pulls: false }, watch())).toBe(false)
    expect(registry?.asked.length).toBe(asked)
    expect(await bringImage(engine.socket, { image, pull: 'always' }, PULLS, watch())).toBe(true)
    expect(registry?.asked.length).toBeGreaterThan(asked ?? 0)
  })

  it('an image that may not be fetched is declined, with the fact', async () => {
    const image = await serve()
    const never = bringImage(engine.socket, { image, pull: 'never' }, PULLS, watch())
    await expect(never).rejects.toThrow(Declined)
    await expect(never).rejects.toThrow(`needs image ${image} without fetching it`)
    await expect(bringImage(engine.socket, { image, pull: 'missing' }, { pulls: false }, watch())).rejects.toThrow(
      /this worker fetches none/,
    )
    expect(registry?.asked).toEqual([])
  })

  it('an image that no registry has fails with the words of the engine', async () => {
    const image = `${(await serve()).replace('/tool:v1', '')}/other:v9`
    await expect(bringImage(engine.socket, { image, pull: 'missing' }, PULLS, watch())).rejects.toThrow(
      /could not be pulled: .*(not found|unknown)/i,
    )
  })

  it('a pull without a byte for too long is given up, however long it may take with them', async () => {
    const image = await serve('stops')
    await expect(
      bringImage(engine.socket, { image, pull: 'missing' }, PULLS, watch({ stallMs: 1500 })),
    ).rejects.toThrow(`the pull of ${image} made no progress for 1.5 s`)
  })

  it('a cancel ends the pull in the engine too', async () => {
    const image = await serve('drips')
    const stop = new AbortController()
    const onProgress = ({ metrics }: Progress) => {
      if (Number(metrics.bytes) > 0) stop.abort(new Error('canceled by ann'))
    }
    const pulled = bringImage(
      engine.socket,
      { image, pull: 'missing' },
      PULLS,
      watch({ signal: stop.signal, onProgress }),
    )
    await expect(pulled).rejects.toThrow('canceled by ann')
    await registry?.leftEarly
  })

  it('what the worker says of its images follows the engine', async () => {
    const image = await serve()
    const find = () => findEngine({ engine: engine.socket, env: {} })
    const rules = { allowedImages: [], allowedMounts: [], pulls: true }
    const known = new EngineWatch({ find, rules, simulated: false, intervalMs: 600_000, changed: () => {} })
    await known.look()
    expect(known.latest().containers).toMatchObject({ engine: 'docker', gpus: false })
    expect(known.latest().containers?.images).not.toContain(image)
    await bringImage(engine.socket, { image, pull: 'missing' }, PULLS, watch())
    await vi.waitFor(() => expect(known.latest().containers?.images).toContain(image), { timeout: 15_000 })
    await known.stop()
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openMemoryStreams } from '../outputs/memory/memory-streams.ts'
import type { StreamName, Streams } from '../outputs/port.ts'
import { createMemoryStore } from '../store/memory/store.ts'
import { BEGINNING } from './follow-job.ts'
import { OutputFollower } from './output-follower.ts'

const FENCE = { job: 1, epoch: 1, attempt: 1 }

/** Appends in order, without waiting for the sync, as a busy gateway does. */
function appender(streams: Streams): (stream: StreamName, bytes: Uint8Array) => Promise<unknown> {
  const ends = { stdout: 0, stderr: 0 }
  return (stream, bytes) => {
    const offset = ends[stream]
    ends[stream] += bytes.length
    return streams.append([{ fence: FENCE, stream, offset, at: 1, bytes }])
  }
}

async function collect(follower: OutputFollower, into: Record<StreamName, Buffer[]>): Promise<void> {
  for await (const pieces of follower.rest())
    for (const { stream, bytes } of pieces) into[stream].push(Buffer.from(bytes))
}

test('however looks and bytes interleave, each stream comes whole, once and in order', async () => {
  const step = fc.oneof(
    fc.record({ stream: fc.constantFrom<StreamName>('stdout', 'stderr'), size: fc.constantFrom(1, 10, 700_000) }),
    fc.constantFrom('take' as const, 'turn' as const),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
      const streams = openMemoryStreams({ queries: createMemoryStore().queries })
      const append = appender(streams)
      const sent: Record<StreamName, Buffer[]> = { stdout: [], stderr: [] }
      const got: Record<StreamName, Buffer[]> = { stdout: [], stderr: [] }
      const follower = new OutputFollower(streams, FENCE, BEGINNING, { only: undefined, wake: () => {} })
      const writes: Promise<unknown>[] = []
      for (const [i, each] of steps.entries()) {
        if (each === 'turn') await new Promise(resolve => setImmediate(resolve))
        else if (each === 'take') {
          for (const { stream, bytes } of await follower.take()) got[stream].push(Buffer.from(bytes))
        } else {
          const bytes = Buffer.alloc(each.size, i + 1)
          sent[each.stream].push(bytes)
          writes.push(append(each.stream, bytes))
        }
      }
      await Promise.all(writes)
      await collect(follower, got)
      follower.close()
      for (const stream of ['stdout', 'stderr'] as const)
        expect(Buffer.concat(got[stream]).equals(Buffer.concat(sent[stream]))).toBe(true)
      await streams.close()
    }),
    { numRuns: 200 },
  )
})

test('a live piece that leaves a gap is not believed: the store fills it', async () => {
  const streams = openMemoryStreams({ queries: createMemoryStore().queries })
  const append = appender(streams)
  let isDeaf = true
  let heard = (): void => {}
  const deaf: Pick<Streams, 'read' | 'watch'> = {
    read: (fence, from, options) => streams.read(fence, from, options),
    watch: (fence, listener) => streams.watch(fence, piece => (isDeaf ? undefined : listener(piece))),
  }
  const follower = new OutputFollower(deaf, FENCE, BEGINNING, { only: undefined, wake: () => heard() })
  expect(await follower.take()).toEqual([])
  await append('stdout', Buffer.from('missed '))
  isDeaf = false
  const waking = new Promise<void>(resolve => {
    heard = resolve
  })
  await append('stdout', Buffer.from('heard'))
  await waking
  const got = (await follower.take()).map(({ bytes }) => Buffer.from(bytes).toString()).join('')
  expect(got).toBe('missed heard')
  follower.close()
  await streams.close()
})

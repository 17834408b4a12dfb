import { expect, it } from 'vitest'
import type { PresetSource } from '../presets/expand-preset.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { readSpecs } from './read-specs.ts'

/** Nothing here names a preset. */
const presets = {} as PresetSource
const batch = (count: number) => ({ jobs: Array.from({ length: count }, () => ({ type: 'noop' })) })

it('reads large batches one after the other, and small ones in between', async () => {
  const context = { presets, reading: oneAtATime() }
  const ends: string[] = []
  const read = async (name: string, count: number) => {
    await readSpecs(batch(count), 1000, context)
    ends.push(name)
  }
  await Promise.all([read('four turns', 1000), read('two turns', 260), read('one turn', 10)])
  expect(ends).toEqual(['one turn', 'four turns', 'two turns'])
})

it('goes on with the next batch when one is refused', async () => {
  const context = { presets, reading: oneAtATime() }
  const wrong = readSpecs({ jobs: [...batch(300).jobs, { type: 'no-such' }] }, 1000, context)
  const right = readSpecs(batch(300), 1000, context)
  await expect(wrong).rejects.toThrow('jobs[300].type')
  expect(await right).toHaveLength(300)
})

import { expect, it, vi } from 'vitest'
import { Pulse } from './pulse.ts'

it('never does two things at once, however much it is hurried, and nothing after it was stopped', async () => {
  let inside = 0
  let most = 0
  let beats = 0
  let letGo = () => {}
  const pulse = new Pulse({
    ...{ everyMs: 1, leastMs: 0, failed: () => {} },
    beat: async () => {
      beats += 1
      inside += 1
      most = Math.max(most, inside)
      await new Promise<void>(resolve => {
        letGo = resolve
      })
      inside -= 1
    },
  })
  pulse.start()
  await vi.waitFor(() => expect(beats).toBe(1))
  pulse.hurry()
  pulse.hurry()
  letGo()
  await vi.waitFor(() => expect(beats).toBe(2))
  const stopped = pulse.stop()
  letGo()
  await stopped
  pulse.hurry()
  await new Promise(resolve => setImmediate(resolve))
  expect({ beats, most }).toEqual({ beats: 2, most: 1 })
})

it('goes on after a failure, and tells it', async () => {
  const failures: unknown[] = []
  const pulse = new Pulse({
    ...{ everyMs: 1, leastMs: 0, beat: () => Promise.reject(new Error('no')), failed: error => failures.push(error) },
  })
  pulse.start()
  await vi.waitFor(() => expect(failures.length).toBeGreaterThan(2))
  await pulse.stop()
})

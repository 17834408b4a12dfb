import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { run } from './harness/jobs.ts'

let house: House
beforeEach(async () => {
  house = await House.open()
})
afterEach(() => house.close())

it('writes logs of hub and worker that machines can read and that hold no secret', async () => {
  const args = ['--log-format', 'json', '--log-level', 'debug']
  const hub = await house.startHub({ args })
  const worker = await house.startWorker('w', { args })
  expect((await run(house.client, { type: 'noop' })).state).toBe('succeeded')
  await worker.stop()
  await expect.poll(() => hub.stderr, { timeout: 10_000 }).toContain('is not connected any more')
  await hub.stop()
  const lines = `${hub.stderr}${worker.stderr}`.trim().split('\n')
  const entries = lines.map(line => JSON.parse(line))
  expect(entries.map(({ part }) => part)).toContain('hub')
  expect(entries).toContainEqual(expect.objectContaining({ level: 'info', part: 'hub', name: 'w' }))
  for (const entry of entries) expect(entry).toMatchObject({ time: expect.any(String), text: expect.any(String) })
  expect(lines.join('\n')).not.toMatch(/st[kw]_|whsec_/)
})

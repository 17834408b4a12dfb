import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { stampsIn } from './stamped-program.ts'

const ECHO = fileURLToPath(new URL('./echo_session.py', import.meta.url))

it('answers each task with the moment it was read, after the deltas it was asked for', () => {
  const before = Date.now()
  const tasks = [
    { task_id: 'a', metadata: {} },
    { task_id: 'b', metadata: { deltas: 2, everyMs: 1 } },
  ]
  const input = tasks.map(task => `${JSON.stringify(task)}\n`).join('')
  const { stdout } = spawnSync('python3', [ECHO], { input, encoding: 'utf8' })
  const [ready, ...events] = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(ready).toEqual({ event: 'worker', status: 'ready' })
  const of = (id: string) => events.filter(({ task_id }) => task_id === id).map(({ event }) => event)
  expect(of('a')).toEqual(['text', 'finish'])
  expect(of('b')).toEqual(['text_delta', 'text_delta', 'text', 'finish'])
  const stamps = stampsIn(stdout)
  expect(stamps).toHaveLength(4)
  for (const stamp of stamps) expect(stamp).toBeGreaterThanOrEqual(before)
})

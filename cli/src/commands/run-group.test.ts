import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GroupDetail } from '@stoker/protocol'
import { beforeEach, expect, test } from 'vitest'
import { reply } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const GROUP = '01890000-0000-7000-8000-0000000000aa'
const NOW = '2026-01-01T00:00:00.000Z'
const none = { waiting: 0, queued: 0, active: 0, succeeded: 0, failed: 0, canceled: 0, timed_out: 0 }
let bodies: Record<string, unknown>[]
let counts: Partial<GroupDetail['counts']>

beforeEach(() => {
  bodies = []
  counts = { succeeded: 2 }
  hub().on('POST /api/v1/jobs', (request, response) => {
    bodies.push(JSON.parse(request.body))
    const ids = ['01890000-0000-7000-8000-0000000000b1', '01890000-0000-7000-8000-0000000000b2']
    const jobs = ids.map(id => ({ id, unschedulable: null }))
    reply(response, 201, { jobs, groups: [{ id: GROUP, name: 'x', first: 0, size: 2 }] })
  })
  hub().on('GET /api/v1/groups/:id', (_, response) => {
    const facts = { id: GROUP, name: 'x', owner: 'ann', size: 2, maxParallel: null, retryOf: null }
    reply(response, 200, { ...facts, submittedAt: NOW, endedAt: NOW, counts: { ...none, ...counts }, failures: [] })
  })
})

test('options make a group of the program, and run waits for all of it', async () => {
  const ran = await stoker([
    'run',
    '--array',
    '1-9:4',
    '--matrix',
    'lr=0.1,1e3,yes,true',
    '--max-parallel',
    '2',
    '--',
    'x',
  ])
  expect(ran).toMatchObject({ code: 0, stderr: `group ${GROUP} of 2 jobs: x\n` })
  expect(bodies).toEqual([
    {
      command: ['x'],
      array: { from: 1, to: 9, step: 4 },
      matrix: { lr: [0.1, '1e3', 'yes', true] },
      maxParallel: 2,
    },
  ])
})

test.each([
  [{ succeeded: 1, failed: 1, timed_out: 1 }, 100],
  [{ canceled: 1, timed_out: 1 }, 124],
  [{ succeeded: 1, canceled: 1 }, 103],
])('a group that ends with %j exits with %i', async (given, code) => {
  counts = given
  expect((await stoker(['run', '--array', '2', '--', 'x'])).code).toBe(code)
})

test('a group that failed is told which file was not sent, one that was canceled is not', async () => {
  await writeFile(join(home(), 'x.py'), '')
  counts = { failed: 2 }
  const told = async () => (await stoker(['run', '--array', '2', '--', 'python3', 'x.py'])).stderr
  expect(await told()).toContain('x.py of this folder was not sent')
  counts = { canceled: 2 }
  expect(await told()).not.toContain('was not sent')
})

test('a detached group prints its id; a file with an array is a group too', async () => {
  expect((await stoker(['run', '--detach', '--array', '2', '--', 'x'])).stdout).toBe(`${GROUP}\n`)
  const submitted = await stoker(['submit', '-', '-q'], { stdin: 'command: x\narray: 2' })
  expect(submitted.stdout).toBe(`${GROUP}\n`)
})

test.each([
  ['--array', 'many'],
  ['--array', '5-'],
  ['--matrix', 'lr'],
])('%s %s is refused before anything is sent', async (...words) => {
  expect((await stoker(['run', ...words, '--', 'x'])).code).toBe(2)
  expect(bodies).toEqual([])
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const spec = () => [...hub().jobs.values()].at(-1)?.spec

test('a container is told on the command line', async () => {
  const words = ['--image', 'tool:v1', '--pull', 'never', '--shm', '1GiB', '--user', 'root', '--writable-root']
  const mounts = ['--mount', '/data:/d', '--mount', '/out:/o:rw', '--isolation', 'container']
  const { code } = await stoker(['run', '--detach', ...words, ...mounts, '--', 'tool', '--help'])
  expect(code).toBe(0)
  expect(spec()).toMatchObject({
    command: ['tool', '--help'],
    isolation: 'container',
    container: {
      ...{ image: 'tool:v1', pull: 'never', shmBytes: 2 ** 30, user: 'root', writableRoot: true },
      mounts: [
        { source: '/data', target: '/d', readOnly: true },
        { source: '/out', target: '/o', readOnly: false },
      ],
    },
  })
})

test('without a program the image says what starts', async () => {
  expect((await stoker(['run', '--detach', '--image', 'tool:v1'])).code).toBe(0)
  expect(spec()).toMatchObject({ name: 'tool:v1', command: null, container: { image: 'tool:v1' } })
})

test('the command line adds to what a file says', async () => {
  const file = join(home(), 'job.yaml')
  await writeFile(file, 'image: tool:v1\ncontainer: {user: root}\nmounts: [{source: /a, target: /a}]\n')
  expect((await stoker(['run', '--detach', '--shm', '1GiB', '--mount', '/b:/b', file])).code).toBe(0)
  expect(spec()?.container).toMatchObject({
    user: 'root',
    shmBytes: 2 ** 30,
    mounts: [{ source: '/a' }, { source: '/b' }],
  })
})

test('a mount that is none is refused before anything is sent', async () => {
  const { code, stderr } = await stoker(['run', '--image', 'x', '--mount', 'data:/d', '--', 'x'])
  expect([code, hub().jobs.size]).toEqual([2, 0])
  expect(stderr).toContain('/SOURCE:/TARGET')
})

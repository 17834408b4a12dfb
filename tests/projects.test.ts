import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { ended, logOf } from './harness/jobs.ts'

let house: House

beforeEach(async () => {
  house = await House.open()
  await house.startHub()
  await house.startWorker('w')
})
afterEach(() => house.close())

it('makes a project, runs it, and brings home what it left', async () => {
  const folder = house.path('digits')
  await mkdir(folder)
  const inside = { inside: ['env', '-C', folder] }
  expect((await house.stoker(['init', '-n', 'digits'], inside)).stdout).toContain('trainforge.yaml')
  const followed = await house.stoker(['push', '--follow', '--no-container', '--out', 'home'], inside)
  expect(followed.stdout).toContain('epoch 20: loss')
  expect(JSON.parse(await readFile(house.path('digits', 'home', 'outputs', 'model.json'), 'utf8'))).toHaveProperty(
    'slope',
  )
  const listed = JSON.parse((await house.stoker(['list', '-l', 'project=digits', '--json'], inside)).stdout)
  expect(listed.jobs).toMatchObject([{ name: 'digits', state: 'succeeded' }])
  const status = await house.stoker(['status', listed.jobs[0].id], inside)
  expect(status.stdout).toContain('epoch 20')
})

it('a flat project gets its words as they are written', async () => {
  const folder = house.path('flat')
  await mkdir(folder)
  await writeFile(
    house.path('flat', 'trainforge.yaml'),
    'name: flat\nrun: python3 say.py "a b" c\nresources: {gpu: 0}\n',
  )
  await writeFile(house.path('flat', 'say.py'), 'import sys\nprint(sys.argv[1:])\n')
  const { stdout } = await house.stoker(['submit', folder, '--quiet'])
  const id = stdout.trim()
  expect((await ended(house.client, id)).state).toBe('succeeded')
  expect(await logOf(house.client, id)).toContain("['a b', 'c']")
})

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestHub, type TestHub } from '../api/test-hub.ts'
import { readProgramBook } from './program-book.ts'

let folder: string
let hub: TestHub
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-jobs-'))
  await mkdir(join(folder, 'fine_tuning'))
  const inputs = { epochs: { type: 'integer', min: 1 }, dataset: { type: 'string', required: true } }
  const manifest = { type: 'fine-tuning', title: 'x', inputs, needs: { network: 'internet' } }
  await writeFile(join(folder, 'fine_tuning', 'program.json'), JSON.stringify(manifest))
  await mkdir(join(folder, 'rag'))
  await writeFile(join(folder, 'rag', 'program.json'), 'no json')
  hub = await openTestHub({ programs: await readProgramBook(folder) })
})
afterEach(async () => {
  await hub.close()
  await removeTree(folder)
})

const submit = (body: unknown) => hub.call('POST', '/api/v1/jobs', { body })

it('a job whose input its program would refuse is refused at the door, with its place', async () => {
  const wrong = await submit({ type: 'fine-tuning', input: { epochs: 0, data: 'x' } })
  expect(wrong.status).toBe(400)
  expect(wrong.json).toMatchObject({
    code: 'spec.invalid',
    errors: [
      { path: 'input.data', message: 'unknown input "data" (fine-tuning has: epochs, dataset)' },
      { path: 'input.epochs', message: 'found 0; allowed: integer from 1' },
      { path: 'input.dataset', message: 'missing; allowed: string' },
    ],
  })
  const batch = await submit({ jobs: [{ type: 'noop' }, { type: 'fine-tuning' }] })
  expect(batch.json).toMatchObject({ errors: [{ path: 'jobs[1].input.dataset' }] })
  const sweep = await submit({ type: 'fine-tuning', input: { epochs: 1 }, array: { from: 1, to: 2 } })
  expect(sweep.json).toMatchObject({ errors: [{ path: 'input.dataset' }] })
})

it('a job gets what its program needs, and of a type nobody describes nothing is refused', async () => {
  const { json } = await submit({ type: 'fine-tuning', input: { dataset: 'x' } })
  const { id } = (json as { jobs: { id: string }[] }).jobs[0] ?? { id: '' }
  expect((await hub.call('GET', `/api/v1/jobs/${id}`)).json).toMatchObject({ spec: { network: 'internet' } })
  expect((await submit({ type: 'rag', input: { anything: 1 } })).status).toBe(201)
})

it('a schedule is held to the same when it is made, changed and run', async () => {
  const schedule = (name: string, spec: object) =>
    hub.call('POST', '/api/v1/schedules', { body: { name, cron: '@daily', spec } })
  const wrong = await schedule('wrong', { type: 'fine-tuning', input: { epochs: 0, dataset: 'x' } })
  expect(wrong.json).toMatchObject({
    code: 'request.invalid',
    errors: [{ path: 'spec.input.epochs', message: 'found 0; allowed: integer from 1' }],
  })
  expect((await schedule('right', { type: 'fine-tuning', input: { dataset: 'x' } })).status).toBe(201)
  const sweep = { type: 'fine-tuning', input: { dataset: 'x', epochs: `$\{{ matrix.n }}` }, matrix: { n: [1, 0] } }
  const changed = await hub.call('PATCH', '/api/v1/schedules/right', { body: { spec: sweep } })
  expect(changed.json).toMatchObject({ errors: [{ path: 'spec.input.epochs' }] })
  expect((await hub.call('POST', '/api/v1/schedules/right/run')).status).toBe(201)
  const { json } = await hub.call('GET', '/api/v1/jobs?label=schedule%3Dright')
  const [job] = (json as { jobs: { id: string }[] }).jobs
  expect((await hub.call('GET', `/api/v1/jobs/${job?.id}`)).json).toMatchObject({ spec: { network: 'internet' } })
})

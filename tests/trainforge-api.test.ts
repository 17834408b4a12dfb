import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { zipOf } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'

const SCRIPT = `
import os, pathlib, sys
print("rate", os.environ["HP_RATE"], flush=True)
pathlib.Path("outputs").mkdir()
pathlib.Path("outputs/model.txt").write_text(os.environ["TRAINFORGE_JOB_ID"])
sys.exit(int(os.environ["CODE"]))
`
let house: House
let token = ''

beforeEach(async () => {
  house = await House.open()
  await house.startHub()
  token = (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim()
})
afterEach(() => house.close())

async function call(method: string, path: string, body?: FormData) {
  const reply = await fetch(`${house.url}/trainforge/t/${token}${path}`, {
    method,
    ...(body === undefined ? {} : { body }),
  })
  const bytes = Buffer.from(await reply.arrayBuffer())
  return { status: reply.status, bytes, json: () => JSON.parse(bytes.toString()) }
}

async function push(code: number, path = '/api/jobs', fields: Readonly<Record<string, string>> = {}) {
  const part = { path: 'fit.py', size: SCRIPT.length, executable: false, at: Date.now() }
  const zip = Buffer.concat(
    await zipOf([{ ...part, open: async () => Readable.from([Buffer.from(SCRIPT)]) }]).toArray(),
  )
  const form = new FormData()
  const config = {
    project: { name: 'old' },
    training: { script: 'fit.py' },
    resources: { gpu: 0, cpu: 1, memory: '64Mi' },
    environment: { env: { CODE: code } },
    hyperparameters: { rate: 0.5 },
  }
  form.append('config', JSON.stringify(config))
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('project_zip', new Blob([zip], { type: 'application/zip' }), 'project.zip')
  return call('POST', path, form)
}

const recordOf = async (id: string) => (await call('GET', `/api/jobs/${id}`)).json()

it('takes a project from an old client, runs it on a worker of ours, and gives back its log and results', async () => {
  const [good, bad] = [(await push(0)).json().job_id, (await push(3)).json().job_id]
  expect(await recordOf(good)).toMatchObject({ status: 'pending', project_name: 'old', training_script: 'fit.py' })
  await house.startWorker('w')
  await expect.poll(async () => (await recordOf(good)).status, { timeout: 60_000 }).toBe('completed')
  await expect.poll(async () => (await recordOf(bad)).status, { timeout: 60_000 }).toBe('failed')
  expect((await call('GET', `/api/jobs/${good}/logs`)).json().logs).toMatchObject([{ message: 'rate 0.5' }])
  expect((await call('GET', `/api/jobs/${good}/results/file/outputs/model.txt`)).bytes.toString()).toBe(good)
  expect((await call('GET', `/api/jobs/${good}/results`)).bytes.includes('outputs/model.txt')).toBe(true)
  expect(await recordOf(bad)).toMatchObject({ error_message: expect.stringContaining('3'), progress: 0 })
  const [worker] = (await call('GET', '/api/workers')).json()
  expect(worker).toMatchObject({ dialect: 'native', jobs_completed: 1, jobs_failed: 1 })
})

it('keeps jobs and their projects through a restart of the hub, and refuses more processes than one machine has room for', async () => {
  const id = (await push(0)).json().job_id
  const zip = (await call('GET', `/api/jobs/${id}/files`)).bytes
  await house.endPrograms()
  await house.startHub()
  expect(await recordOf(id)).toMatchObject({ status: 'pending' })
  expect((await call('GET', `/api/jobs/${id}/files`)).bytes.equals(zip)).toBe(true)
  await house.startWorker('w', { joins: true })
  const wide = await push(0, '/api/jobs/distributed', { num_workers: '64' })
  expect({ status: wide.status, json: wide.json() }).toMatchObject({
    status: 409,
    json: { error: 'No worker can run the job' },
  })
})

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { ended, logOf, prints, run } from './harness/jobs.ts'

const SAYS_WHERE = 'python -c "import idna, six, sys; print(idna.__version__, sys.prefix)"'

let house: House
beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})
afterEach(() => house.close())

/** A folder of programs with one small type, which tells its package and its input, and leaves a file. */
async function somePrograms(): Promise<string> {
  const root = house.path('programs')
  const main = `
import json, os, pathlib, idna
pathlib.Path("outputs").mkdir()
pathlib.Path("outputs/answer.txt").write_text("42")
result = {"idna": idna.__version__, "input": json.loads(os.environ["TASK_METADATA"])}
print(json.dumps({"event": "finish", "status": "completed", "result": result}))
`
  await mkdir(join(root, 'compute'), { recursive: true })
  await writeFile(join(root, 'compute', 'main.py'), main)
  await writeFile(join(root, 'compute', 'requirements.txt'), 'idna==3.10\n')
  await writeFile(join(root, 'compute', 'program.json'), JSON.stringify({ type: 'compute', title: 'x', inputs: {} }))
  return root
}

const environmentsOf = (worker: string) => readdir(house.path(worker, 'environments', 'envs'))
const pythonOf = (worker: string, key = '') => house.path(worker, 'environments', 'envs', key)

describe('packages of a job', () => {
  it('are installed once for all that need the same, and told in the log of each', async () => {
    await house.startWorker('w', { args: ['--max-jobs', '4'] })
    const spec = { command: SAYS_WHERE, environment: { requirements: 'six\nidna==3.10' } }
    const first = await house.client.submit(spec)
    const second = await house.client.submit({ ...spec, environment: { requirements: ['IDNA == 3.10', 'six # x'] } })
    const jobs = [await ended(house.client, first.id), await ended(house.client, second.id)]
    const [key, ...others] = await environmentsOf('w')
    expect(others).toEqual([])
    for (const { id, state } of jobs) {
      expect(state).toBe('succeeded')
      expect(await logOf(house.client, id, 'stdout')).toBe(`3.10 ${pythonOf('w', key)}\n`)
      expect(await logOf(house.client, id, 'stderr')).toContain('Successfully installed idna-3.10 six-')
    }
    const again = await run(house.client, spec)
    expect(await logOf(house.client, again.id, 'stderr')).toBe('')
  })

  it('that cannot be had fail the job with the name of the package, and leave nothing', async () => {
    await house.startWorker('w')
    const job = await run(house.client, { command: 'true', environment: { requirements: 'no-such-package-of-stoker' } })
    expect(job).toMatchObject({ state: 'failed', exitCode: null })
    expect(job.reason).toMatch(/^no-such-package-of-stoker could not be installed\n[\s\S]*No matching distribution/)
    expect(await logOf(house.client, job.id, 'stderr')).toContain('No matching distribution')
    expect(await environmentsOf('w')).toEqual([])
    expect(await readdir(house.path('w', 'environments', 'building'))).toEqual([])
  })

  it('are installed anew when the worker is killed over it, by another worker that shares the folder', async () => {
    const shared = ['--environments', house.path('shared')]
    const first = await house.startWorker('w', { args: shared })
    const { id } = await house.client.submit({ command: SAYS_WHERE, environment: { requirements: 'six\nidna==3.10' } })
    await prints(house.client, id, 'Collecting')
    first.signal('SIGKILL')
    await first.exited
    await house.startWorker('w2', { args: shared })
    const job = await ended(house.client, id)
    expect(job).toMatchObject({ state: 'succeeded', worker: { name: 'w2' } })
    expect(await readdir(house.path('shared', 'envs'))).toHaveLength(1)
    await house.startWorker('w', { args: shared, joins: false })
    expect(await house.client.job(id)).toMatchObject({ state: 'succeeded' })
  })
})

it('a job of a program type runs its program with its packages, and what it leaves is kept', async () => {
  const programs = ['--programs', await somePrograms()]
  await house.startWorker('w', { args: programs })
  const typesOf = async () => (await house.client.worker('w')).abilities.types?.compute?.state
  expect(await typesOf()).toBe('installable')
  const job = await run(house.client, { type: 'compute', input: { iterations: 3 } })
  expect(job).toMatchObject({ state: 'succeeded', result: { idna: '3.10', input: { iterations: 3 } } })
  const left: string[] = []
  for await (const { path } of house.client.artifacts(job.id)) left.push(path)
  expect(left).toEqual(['outputs/answer.txt'])
  await expect.poll(typesOf).toBe('ready')
})

it('a type that needs a GPU waits where there is none, and everyone who asks is told why', async () => {
  const root = await somePrograms()
  const needs = { gpu: 'required' }
  const manifest = JSON.stringify({ type: 'compute', title: 'x', inputs: {}, needs })
  await writeFile(join(root, 'compute', 'program.json'), manifest)
  await house.startWorker('w', { args: ['--programs', root, '--simulate-gpus', '1x24GB'] })
  const why = 'needs a GPU, this machine has none'
  expect((await house.client.worker('w')).abilities.types).toEqual({ compute: { state: 'impossible', reason: why } })
  expect((await house.stoker(['workers', 'w'])).stdout).toContain(`no compute: ${why}`)
  const { unschedulable } = await house.client.submit({ type: 'compute' })
  expect(unschedulable).toContain(`needs to run compute, w cannot: ${why}`)
})

it('env shows what is installed, installs beforehand and removes what nobody uses', async () => {
  const places = ['--environments', house.path('w', 'environments'), '--programs', await somePrograms()]
  const env = async (...words: readonly string[]) => {
    const program = await house.stoker(['env', ...words, ...places, '--json'])
    return { code: (await program.exited).code, value: JSON.parse(program.stdout || program.stderr) }
  }
  expect(await env('warm', 'compute', '--allow-unsandboxed')).toMatchObject({
    code: 0,
    value: { wasThere: false, environment: { packages: ['idna-3.10'], types: ['compute'], inUse: 0 } },
  })
  expect(await env('warm', 'compute')).toMatchObject({ value: { wasThere: true } })
  expect(await env('warm', 'no-such-file')).toMatchObject({ code: 3, value: { error: { exitCode: 3 } } })
  await house.startWorker('w', { args: places })
  const { id } = await house.client.submit({ type: 'compute' })
  const job = await ended(house.client, id)
  expect(job).toMatchObject({ state: 'succeeded' })
  expect(await logOf(house.client, id, 'stderr')).toBe('')
  expect(await env('list')).toMatchObject({ value: { environments: [{ types: ['compute'] }], wheels: { count: 1 } } })
  await expect.poll(async () => (await env('prune', '--all')).value.environments.length).toBe(1)
  expect(await env('list')).toMatchObject({ value: { environments: [], wheels: { count: 0 } } })
})

describe('ranks', () => {
  const program = (body: string) => ({ type: 'custom_script' as const, input: { script: body }, ranks: 2 })

  it('are processes of one job: the first speaks for it, the lines of the others carry their number', async () => {
    await house.startWorker('w')
    const script = `
import os, sys
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"])
`
    const job = await run(house.client, program(script))
    expect(job).toMatchObject({ state: 'succeeded' })
    expect(await logOf(house.client, job.id, 'stdout')).toBe('rank 0 of 2\n')
    expect(await logOf(house.client, job.id, 'stderr')).toBe('[rank 1] rank 1 of 2\n')
    const shown = async (rank: string) => (await house.stoker(['logs', job.id, '--rank', rank])).stdout
    expect([await shown('0'), await shown('1')]).toEqual(['rank 0 of 2\n', 'rank 1 of 2\n'])
  })

  it('end together, and the one that failed says why', async () => {
    await house.startWorker('w')
    const script = `
import os, sys, time
if os.environ["RANK"] == "1":
    sys.exit("no data for me")
time.sleep(600)
`
    const job = await run(house.client, program(script))
    expect(job).toMatchObject({ state: 'failed', exitCode: 1 })
    expect(job.reason).toContain('rank 1 of 2 failed with exit code 1, the others were stopped\nno data for me')
  })
})

import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'
import { ended, logOf, prints, run } from './harness/jobs.ts'
import { openGate } from './harness/programs.ts'

const VALUE = 'hf_correct-horse-battery-staple'
let house: House
let hub: ChildProgram
let worker: ChildProgram

beforeAll(async () => {
  house = await House.open()
  hub = await house.startHub()
  worker = await house.startWorker('w')
  await house.client.setSecret('HF_TOKEN', Buffer.from(VALUE))
})
afterAll(() => house.close())

const ISOLATIONS = ['none', 'sandbox'] as const
/** Tells about the value what can be told without saying it. */
const LOOK = `stat -c '%a' $STOKER_SECRETS $STOKER_SECRETS/HF_TOKEN
  stat -f -c %T $STOKER_SECRETS; sha256sum <$STOKER_SECRETS/HF_TOKEN | cut -c1-16; env | grep -c horse; id -u >/dev/null`

/** Files below the house in which the value stands. */
async function filesWithValue(): Promise<string> {
  const found = await promisify(execFile)('grep', ['-rlF', VALUE, house.root]).catch(error => error)
  return found.stdout
}

const foldersInMemory = async () => (await readdir('/dev/shm')).filter(name => name.startsWith('stoker-secrets-'))

it.each(ISOLATIONS)('gives a program with isolation %s a file in memory that only it can read', async isolation => {
  const job = await run(house.client, { command: LOOK, isolation, secrets: ['HF_TOKEN'] })
  const hash = (await promisify(execFile)('sh', ['-c', `printf %s ${VALUE} | sha256sum | cut -c1-16`])).stdout
  expect(await logOf(house.client, job.id, 'stdout')).toBe(`700\n400\ntmpfs\n${hash}0\n`)
  expect(await foldersInMemory()).toEqual([])
})

it.each(ISOLATIONS)('gives a program with isolation %s a variable only when it asks for one', async isolation => {
  const command = `test "$TOKEN" = "$(printf 'hf_%s' correct-horse-battery-staple)" && echo same; echo "[$STOKER_SECRETS]"`
  const job = await run(house.client, { command, isolation, secrets: [{ name: 'HF_TOKEN', env: 'TOKEN' }] })
  expect(await logOf(house.client, job.id)).toBe('same\n[]\n')
})

it.each(ISOLATIONS)('keeps the value out of everything a program with isolation %s says', async isolation => {
  const program = `
import json, os, sys, time
value = open(os.environ["STOKER_SECRETS"] + "/HF_TOKEN").read()
print("before", value, "after", flush=True)
for letter in value: sys.stderr.write(letter); sys.stderr.flush(); time.sleep(0.001)
sys.stderr.write("!\\n")
print(json.dumps({"event": "progress", "percent": 1, "operation": value}))
print(json.dumps({"event": "finish", "status": "failed", "error": "bad token " + value, "result": {"t": value}}))
sys.stdout.write("half " + value[:9])
sys.exit(3)`
  const job = await run(house.client, { command: ['python3', '-c', program], isolation, secrets: ['HF_TOKEN'] })
  const log = await logOf(house.client, job.id)
  expect(log).toContain('before ***HF_TOKEN*** after')
  expect(log).toContain('***HF_TOKEN***!')
  expect(log).toContain(`half ${VALUE.slice(0, 9)}`)
  expect(job).toMatchObject({ state: 'failed', reason: expect.stringContaining('bad token ***HF_TOKEN***') })
  expect(JSON.stringify(job)).not.toContain(VALUE)
  expect(await filesWithValue()).toBe('')
})

it('is on no disk while the program runs, and a restarted worker goes on without it', async () => {
  const command = `cat $STOKER_SECRETS/HF_TOKEN >/dev/null && echo ready; while [ ! -e ${house.path('go')} ]; do sleep 0.05; done; cat $STOKER_SECRETS/HF_TOKEN`
  const { id } = await house.client.submit({ command, isolation: 'none', secrets: ['HF_TOKEN'] })
  await prints(house.client, id, 'ready')
  expect(await filesWithValue()).toBe('')
  expect(await foldersInMemory()).toHaveLength(1)
  worker.signal('SIGKILL')
  await worker.exited
  worker = await house.startWorker('w', { joins: false })
  await openGate(house, 'go')
  expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(await logOf(house.client, id)).toBe('ready\n***HF_TOKEN***')
  expect(await foldersInMemory()).toEqual([])
})

it('goes from memory also when the keeper of the program is killed', async () => {
  const { id } = await house.client.submit({
    command: 'echo ready; sleep 600',
    isolation: 'none',
    secrets: ['HF_TOKEN'],
  })
  await prints(house.client, id, 'ready')
  const [first = ''] = await foldersInMemory()
  expect(first).not.toBe('')
  await house.killKeepers('w')
  await expect.poll(foldersInMemory, { timeout: 20_000 }).not.toContain(first)
  await house.client.cancel(id)
  expect(await ended(house.client, id)).toMatchObject({ state: 'canceled' })
  await expect.poll(foldersInMemory, { timeout: 20_000 }).toEqual([])
})

it('is refused at the submit when it is not known, and ends the attempt when it was removed since', async () => {
  await expect(house.client.submit({ command: 'true', secrets: ['NO_SUCH'] })).rejects.toMatchObject({
    problem: { code: 'spec.invalid', errors: [{ path: 'secrets[0]' }] },
  })
  await house.client.setSecret('GOING', Buffer.from('some-long-value'))
  await house.client.drain('w')
  const { id } = await house.client.submit({ command: 'true', secrets: ['GOING'] })
  await house.client.removeSecret('GOING')
  await house.client.resume('w')
  expect(await ended(house.client, id)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('secret GOING of admin was removed'),
  })
})

it('opens after a restart of the hub and after its key was changed', async () => {
  const keyFile = join(house.path('hub'), 'secret-key')
  const before = await readFile(keyFile, 'utf8')
  expect((await house.client.rotateSecretKey()).resealed).toBe(1)
  expect(JSON.parse(await readFile(keyFile, 'utf8')).keys).toHaveLength(1)
  expect(await readFile(keyFile, 'utf8')).not.toBe(before)
  await hub.stop()
  hub = await house.startHub()
  const job = await run(house.client, { command: 'wc -c <$STOKER_SECRETS/HF_TOKEN', secrets: ['HF_TOKEN'] })
  expect(await logOf(house.client, job.id)).toBe(`${VALUE.length}\n`)
})

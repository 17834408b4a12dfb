import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { conversationOf, expectGolden } from '../test-conversation.ts'
import { HttpHub } from '../test-http-hub.ts'
import { LinkBench } from '../test-link-bench.ts'
import { QubixHub } from '../test-qubix-hub.ts'
import { makeQubix, type QubixChoices } from '../test-qubix-worker.ts'

let hub: QubixHub
let choices: QubixChoices
let bench: LinkBench
beforeEach(async () => {
  choices = {}
  hub = new QubixHub()
  await hub.open()
  bench = new LinkBench(parts => makeQubix(hub, parts, choices))
})
afterEach(async () => {
  await bench.remove()
  await hub.close()
})
const soon = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 })
const FOR_EVER = `import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)`

describe('getting in', () => {
  const REGISTER = /^\/api\/providers\/register$/

  it.each([301, 404, 410])('takes the older way in when register is answered with %i', async status => {
    choices = { address: 'A'.repeat(60) }
    hub.instead.set(REGISTER, { status, json: {} })
    await bench.start()
    await soon(() => expect(hub.beats.length).toBeGreaterThan(0))
    expect(hub.providers).toMatchObject([
      { type: 'native', workerId: '0a1b2c3d4e5f6071', qubicAddress: 'A'.repeat(60), cpu: { cores: 4 } },
    ])
  })

  it('never makes up an identity for it', async () => {
    hub.instead.set(REGISTER, { status: 404, json: {} })
    await bench.start()
    await soon(() => expect(bench.refusals).toHaveLength(1))
    expect(bench.refusals[0]).toContain('--address')
    expect(hub.providers).toEqual([])
  })

  it('registers again when the backend has forgotten it', async () => {
    await bench.start()
    await soon(() => expect(hub.beats.length).toBeGreaterThan(0))
    hub.instead.set(/heartbeat$/, { status: 404, json: {} })
    await soon(() => expect(hub.providers.length).toBeGreaterThan(2))
  })

  it('registers again after five heartbeats without a good answer, not before', async () => {
    await bench.start()
    await soon(() => expect(hub.beats.length).toBeGreaterThan(0))
    const before = hub.http.calls.length
    hub.instead.set(/heartbeat$/, { status: 500, json: {} })
    await soon(() => expect(hub.providers).toHaveLength(2))
    const since = hub.http.calls.slice(before)
    const again = since.findIndex(({ path }) => path.endsWith('/register'))
    expect(since.slice(0, again).filter(({ path }) => path.endsWith('/heartbeat'))).toHaveLength(5)
  })
})

describe('taking jobs', () => {
  it.each(['poll', 'wrapped', 'heartbeat'] as const)('takes them by %s', async intake => {
    hub.intake = intake
    hub.offer('a', 'print(1)')
    await bench.start()
    await soon(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed' }]))
  })

  it('says truthfully what it is busy with', async () => {
    await bench.start()
    hub.offer('a', FOR_EVER)
    await soon(() => expect(hub.beats.at(-1)).toMatchObject({ status: 'busy', currentJob: 'a', current_job: 'a' }))
    hub.cancel('a')
    await soon(() => expect(hub.beats.at(-1)).toMatchObject({ status: 'online', currentJob: null }))
  })

  it('does not run what the backend gave to someone else', async () => {
    hub.offer('a', `open(${JSON.stringify(bench.marks)}, 'a').write('x')`)
    hub.instead.set(/\/a\/progress$/, { status: 409, json: {} })
    await bench.start()
    await soon(() =>
      expect(hub.http.calls.filter(({ path }) => path.endsWith('/a/progress')).length).toBeGreaterThan(1),
    )
    expect(bench.marksMade).toBe('')
    expect(hub.endsHeard('a')).toBe(0)
  })

  it('gives back what it has no program for, with the reason, and simulates nothing', async () => {
    hub.offerJob('a', { jobType: 'mnist_training', inputData: { epochs: 5 } })
    await bench.start()
    await soon(() => expect(hub.completions('a')).toHaveLength(1))
    expect(hub.completions('a')).toMatchObject([
      { status: 'failed', error: 'this worker has no program for "mnist_training"', result: { artifacts: [] } },
    ])
  })
})

describe('while a job runs', () => {
  it.each([403, 409, 410])('ends it when progress is answered with %i', async status => {
    hub.offer('a', FOR_EVER)
    await bench.start()
    await soon(() => expect(hub.output('a')).toContain('begun'))
    hub.instead.set(/\/a\/progress$/, { status, json: {} })
    await soon(() => expect(hub.ends('a')).toHaveLength(1))
    expect(hub.ends('a')[0]?.error).toContain(`it answered ${status}`)
  })

  it('ends it when the backend does not know it twice in a row', async () => {
    hub.offer('a', FOR_EVER)
    await bench.start()
    await soon(() => expect(hub.output('a')).toContain('begun'))
    hub.instead.set(/\/a\/progress$/, { status: 404, json: {} })
    await soon(() => expect(hub.ends('a')).toHaveLength(1))
    expect(bench.running).toBe(0)
  })

  it('takes progress that a script prints as a line', async () => {
    hub.offer('a', `print('PROGRESS 37 tidying up', flush=True)\n${FOR_EVER}`)
    await bench.start()
    await soon(() => expect(hub.progress('a')).toContain(37))
    const told = hub.http.calls.filter(({ path }) => path.endsWith('/progress')).map(({ json }) => json)
    expect(told).toContainEqual(expect.objectContaining({ progress: 37, currentOperation: 'tidying up' }))
  })
})

describe('what a job leaves', () => {
  const WRITES = `open('small.txt', 'w').write('hello')\nopen('large.bin', 'wb').write(b'x' * 1_500_000)`
  const SMALL = { name: 'small.txt', size: 5, sha256: createHash('sha256').update('hello').digest('hex') }
  const artifacts = () =>
    (hub.completions('a').at(-1)?.result as { readonly artifacts: unknown } | undefined)?.artifacts

  it('travels in the report up to a megabyte, and is named by size and hash beyond', async () => {
    hub.offer('a', WRITES)
    await bench.start()
    await soon(() => expect(hub.ends('a')).toHaveLength(1))
    expect(artifacts()).toMatchObject([
      { name: 'large.bin', size: 1_500_000, url: null },
      { ...SMALL, url: null, encoding: 'base64', data: 'aGVsbG8=' },
    ])
    expect(JSON.stringify(artifacts())).not.toContain('eHh4')
  })

  it('is put where the owner said, and named by its address', async () => {
    const put = new HttpHub(() => ({ status: 201 }))
    await put.open()
    choices = { uploadUrl: `${put.url}/bucket` }
    hub.offer('a', WRITES)
    await bench.start()
    await soon(() => expect(hub.ends('a')).toHaveLength(1))
    expect(put.calls.map(({ method, path, body }) => `${method} ${path} ${body.length}`)).toEqual([
      'PUT /bucket/a/large.bin 1500000',
      'PUT /bucket/a/small.txt 5',
    ])
    expect(artifacts()).toMatchObject([{}, { ...SMALL, url: `${put.url}/bucket/a/small.txt` }])
    expect(hub.completions('a')).toMatchObject([{ result_url: `${put.url}/bucket/a/large.bin` }])
    await bench.end()
    await put.close()
  })

  it('is left out where the backend takes no large bodies, and the end is told all the same', async () => {
    hub.offer('a', WRITES)
    await bench.start()
    await soon(() => expect(hub.progress('a')).toContain(1))
    hub.instead.set(/\/a\/complete$/, { status: 413, json: {} })
    await soon(() => expect(hub.http.calls.filter(({ path }) => path.endsWith('/complete')).length).toBeGreaterThan(1))
    const [first, second] = hub.http.calls.filter(({ path }) => path.endsWith('/complete')).map(({ json }) => json)
    expect(first).toMatchObject({ result: { artifacts: [{}, { data: 'aGVsbG8=' }] } })
    expect(second).toMatchObject({ status: 'completed', result: { artifacts: [{}, SMALL] } })
    expect(JSON.stringify(second)).not.toContain('aGVsbG8=')
  })
})

it('says what it always said: a success, a failure and a goodbye', async () => {
  choices = { times: { heartbeatMs: 3_600_000, progressMs: 3_600_000 } }
  await bench.start()
  await soon(() => expect(hub.beats).toHaveLength(1))
  const isRunning = ({ json }: { readonly json: unknown }) =>
    (json as { readonly currentOperation?: string } | undefined)?.currentOperation === 'running'
  let begun = 0
  // What it prints belongs to its end once its beginning was told.
  const runs = async (id: string, script: string) => {
    const gate = join(bench.root, `gate-${begun}`)
    begun += 1
    execFileSync('mkfifo', [gate])
    hub.offer(id, `open(${JSON.stringify(gate)}).read()\n${script}`)
    await soon(() => expect(hub.http.calls.filter(isRunning)).toHaveLength(begun))
    await writeFile(gate, '')
    await soon(() => expect(hub.ends(id)).toHaveLength(1))
  }
  await runs('job-1', `print('hello')\nopen('out.txt', 'w').write('weights')`)
  await runs('job/2', `import sys\nprint('oh', file=sys.stderr)\nsys.exit(3)`)
  await bench.shutDown()
  const said = conversationOf(hub.http.calls.filter(call => !isRunning(call)))
  expectGolden(new URL('golden/conversation.json', import.meta.url), said)
})

import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openTestHub, type TestHub } from '../test-hub.ts'
import { TestWorker } from '../test-worker.ts'

let hub: TestHub
beforeEach(async () => {
  hub = await openTestHub()
})
afterEach(() => hub.close())

const figures = async () => (await hub.call('GET', '/metrics')).text

/** The value of a figure with exactly these labels. */
async function figure(name: string): Promise<number | null> {
  const line = (await figures()).split('\n').find(each => each.startsWith(`${name} `))
  return line === undefined ? null : Number(line.slice(name.length + 1))
}

it('counts how attempts ended and why, how long they waited and ran', async () => {
  const ends = [
    {},
    { outcome: 'failed', exitCode: 3, error: 'exited with code 3' },
    { outcome: 'failed', exitCode: null, signal: 'SIGKILL', error: 'out of memory (limit 1 GB)' },
    { outcome: 'failed', exitCode: null, signal: 'SIGSEGV', error: 'killed by SIGSEGV' },
    { outcome: 'timed_out', exitCode: null, error: 'Task timeout exceeded' },
  ] as const
  const worker = await TestWorker.join(hub)
  for (const end of ends) {
    const { json } = await hub.call('POST', '/api/v1/jobs', { body: { command: 'x' } })
    const fence = await worker.placed(json.jobs[0].id)
    await worker.ended(fence, { ...end, at: 10_000, startedAt: 5_000 })
  }
  const count = (outcome: string, cause: string) =>
    figure(`stoker_attempts_ended_total{outcome="${outcome}",cause="${cause}"}`)
  expect(await count('completed', 'exit')).toBe(1)
  expect(await count('failed', 'exit')).toBe(1)
  expect(await count('failed', 'memory')).toBe(1)
  expect(await count('failed', 'signal')).toBe(1)
  expect(await count('timed_out', 'timed_out')).toBe(1)
  expect(await figure('stoker_job_wait_seconds_count')).toBe(5)
  expect(await figure('stoker_attempt_run_seconds_count{outcome="failed"}')).toBe(3)
})

it('shows workers, their spool and their devices, and forgets workers that are gone', async () => {
  const worker = await TestWorker.join(hub, { name: 'rig' })
  hub.board.put(worker.id, {
    t: 'live',
    at: 1,
    host: null,
    gpus: [{ uuid: 'GPU-1', utilization: 50, memoryUsedMb: 2, temperatureC: 60, powerW: null, powerLimitW: null }],
    attempts: [],
    spoolBytes: 77,
  })
  expect(await figure('stoker_worker_up{worker="rig"}')).toBe(1)
  expect(await figure('stoker_worker_spool_bytes{worker="rig"}')).toBe(77)
  expect(await figure('stoker_gpu_utilization_ratio{worker="rig",gpu="GPU-1"}')).toBe(0.5)
  expect(await figure('stoker_gpu_memory_used_bytes{worker="rig",gpu="GPU-1"}')).toBe(2 * 2 ** 20)
  expect(await figures()).not.toContain('stoker_gpu_power_watts{')
  await hub.call('DELETE', '/api/v1/workers/rig')
  expect(await figures()).not.toContain('worker="rig"')
})

it('says how many jobs wait and for how long', async () => {
  await TestWorker.join(hub, { maxJobs: 0 })
  await hub.call('PUT', '/api/v1/owners/ben/limits', { body: { running: 0 } })
  const plain = { command: 'x' }
  await hub.call('POST', '/api/v1/jobs', { body: { jobs: [plain, plain, { ...plain, resources: { gpus: 9 } }] } })
  await hub.call('POST', '/api/v1/jobs', { body: plain, token: await hub.token('submit', 'ben') })
  expect(await figure('stoker_queued_jobs{reason="no-room"}')).toBe(2)
  expect(await figure('stoker_queued_jobs{reason="no-worker"}')).toBe(1)
  expect(await figure('stoker_queued_jobs{reason="limit"}')).toBe(1)
  expect(await figure('stoker_oldest_queued_seconds')).toBeGreaterThanOrEqual(0)
  expect(await figure('stoker_jobs{state="queued"}')).toBe(4)
})

it('has every figure that the documents name, and the documents name every figure', async () => {
  const root = new URL('../../../../docs/', import.meta.url)
  const real = new Set([...(await figures()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  for (const name of ['stoker_commit_seconds', 'stoker_commit_rows', 'stoker_plan_seconds']) real.add(name)
  const operations = await readFile(new URL('operations.md', root), 'utf8')
  const named = new Set([...operations.matchAll(/^\| `((?:stoker|process)_\w+)/gm)].map(([, name]) => name))
  expect([...named].sort()).toEqual([...real].sort())
  const { groups } = parse(await readFile(new URL('alerts.yml', root), 'utf8'))
  const used = [...JSON.stringify(groups).matchAll(/stoker_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  )
  expect(used.length).toBeGreaterThan(8)
  expect(used.filter(name => !real.has(name))).toEqual([])
})

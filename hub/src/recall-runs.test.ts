import { expect, test } from 'vitest'
import { openTestHub } from './api/test-hub.ts'
import { TestWorker } from './api/test-worker.ts'
import { RunTimeBook } from './engine/run-times.ts'
import { recallRuns } from './recall-runs.ts'

test('after a restart the run times of jobs alike are known again from the last that ended', async () => {
  const hub = await openTestHub()
  const worker = await TestWorker.join(hub, { name: 'w', maxJobs: 10 })
  const jobs = [1, 2, 3].map(() => ({ type: 'noop' }))
  const { json } = await hub.call('POST', '/api/v1/jobs', { body: { jobs: [...jobs, { type: 'noop', timeout: 9 }] } })
  const buckets = await hub.engine.read(state => [...state.buckets.values()])
  for (const { id } of json.jobs) await worker.ended(await worker.placed(id))
  const told = new RunTimeBook()
  await recallRuns(hub.store.queries, () => told)
  const learnt = await hub.engine.read(state => state.runTimes)
  for (const book of [told, learnt]) expect(buckets.map(bucket => book.of(bucket)?.seen)).toEqual([3, 1])
  await recallRuns(hub.store.queries, () => null)
  await hub.close()
})

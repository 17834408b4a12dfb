import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ended } from './harness/jobs.ts'
import { OpenAiHouse } from './harness/openai-house.ts'

let served: OpenAiHouse
beforeAll(async () => {
  served = await OpenAiHouse.open()
})
afterAll(() => served.house.close())

test('an answer breaks off when its worker leaves in the middle of it, and the task is answered elsewhere', async () => {
  const gate = served.house.path('gate-of-the-broken')
  const pieces: string[] = []
  const stream = await served.chatStream('odd', `hold ${gate}`)
  const reading = (async () => {
    for await (const { choices } of stream) pieces.push(choices[0]?.delta.content ?? '')
  })()
  const told = expect(reading).rejects.toMatchObject({
    code: 'answer_broken',
    message: 'the answer broke off: its worker was lost in the middle of it',
  })
  await expect.poll(() => pieces.join('')).toBe('holding')
  const [task] = (await served.house.client.jobs({ type: 'task', state: ['active'] })).jobs
  await served.worker.stop()
  await served.house.startWorker('w2', { args: ['--max-jobs', '32'] })
  await told
  expect(pieces.join('')).toBe('holding')
  await writeFile(gate, '')
  const job = await ended(served.house.client, task?.id ?? '')
  expect(job).toMatchObject({ state: 'succeeded', attempts: 2, history: [{ outcome: 'lost' }, {}] })
})

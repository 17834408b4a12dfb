import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'

interface Conversation {
  readonly job: object
  readonly ends: string
  readonly talk: readonly {
    readonly call: string
    readonly body?: unknown
    readonly status: number
    readonly answer: unknown
  }[]
}

const GOLDEN = join(import.meta.dirname, 'golden')
let gateway: TestGateway
beforeEach(async () => {
  gateway = await TestGateway.open()
})
afterEach(() => gateway.close())

it.each(readdirSync(GOLDEN))('a worker is answered to the letter as it was before: %s', async name => {
  const { job, ends, talk }: Conversation = JSON.parse(readFileSync(join(GOLDEN, name), 'utf8'))
  const id = await gateway.submit(job)
  const named = (text: string) => text.replaceAll('JOB', id)
  for (const { call, body, status, answer } of talk) {
    const [method = '', path = ''] = named(call).split(' ')
    const sent = body === undefined ? undefined : named(JSON.stringify(body))
    const got = await gateway.call(method, path, { body: sent })
    const text = got.text.replace(/"\d{4}-\d\d-\d\dT[^"]+Z"/, '"TIME"')
    expect({ call, status: got.status, answer: JSON.parse(text) }).toEqual({
      call,
      status,
      answer: JSON.parse(named(JSON.stringify(answer))),
    })
  }
  expect((await gateway.job(id)).state).toBe(ends)
})

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type CallOptions, openTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await openTestHub({ limits: { perOwner: 50, strangers: 200 } })
})
afterAll(() => hub.close())

interface Given extends Pick<Answer, 'status' | 'text' | 'json'> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** By a connection of its own. */
async function send({ body, token = hub.admin, headers = {} }: CallOptions): Promise<Given> {
  const agent = new Agent({ keepAlive: true })
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signed = token === null ? {} : { authorization: `Bearer ${token}` }
  const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const call = request(`${hub.url}/api/v1/jobs`, {
    method: 'POST',
    agent,
    headers: { ...signed, ...length, ...headers },
  })
  call.end(text)
  const [reply] = await once(call, 'response')
  let answer = ''
  for await (const part of reply.setEncoding('utf8')) answer += part
  agent.destroy()
  return { status: reply.statusCode, headers: reply.headers, text: answer, json: JSON.parse(answer) }
}

async function bothWays(options: CallOptions): Promise<readonly [quick: Given, ordinary: Given]> {
  return [await send(options), await send({ ...options, headers: { ...options.headers, 'x-way': 'ordinary' } })]
}

/** Node's server names the connection in its answers, the short way does not. */
const isOrdinary = ({ headers }: Given) => headers.connection !== undefined

describe('a submit on the short way', () => {
  it('is the one on the ordinary way', async () => {
    const body = {
      jobs: [
        { type: 'noop', name: 'größer' },
        { type: 'noop', resources: { gpus: 64 } },
      ],
    }
    const [quick, ordinary] = await bothWays({ body })
    expect([isOrdinary(quick), isOrdinary(ordinary)]).toEqual([false, true])
    expect([quick.status, quick.headers['content-type']]).toEqual([ordinary.status, ordinary.headers['content-type']])
    const without = (answer: Given) => answer.text.replaceAll(/"id":"[^"]+"/g, '')
    expect(without(quick)).toBe(without(ordinary))
    const jobs = await Promise.all(
      [quick, ordinary].map(async ({ json }) => (await hub.call('GET', `/api/v1/jobs/${json.jobs[0].id}`)).json),
    )
    expect(jobs.map(({ name, owner, state }) => ({ name, owner, state }))).toEqual(
      Array(2).fill({ name: 'größer', owner: 'ada', state: 'queued' }),
    )
  })

  it('has the same jobs for the same key', async () => {
    const [quick, ordinary] = await bothWays({ body: { type: 'noop' }, headers: { 'idempotency-key': 'both' } })
    expect(isOrdinary(quick)).toBe(false)
    expect(quick.json).toEqual(ordinary.json)
  })

  it('is counted like the others', async () => {
    const count = async () => {
      const { text } = await hub.call('GET', '/metrics')
      const route = 'stoker_http_responses_total{method="POST",route="/api/v1/jobs",status="201"}'
      return Number(
        text
          .split('\n')
          .find(line => line.startsWith(route))
          ?.split(' ')
          .at(-1) ?? 0,
      )
    }
    const before = await count()
    await bothWays({ body: { type: 'noop' } })
    expect((await count()) - before).toBe(2)
  })

  it.each<[string, CallOptions, number]>([
    ['a wrong spec', { body: { type: 'noop', nmae: 'x' } }, 400],
    ['no JSON', { body: '{"type":' }, 400],
    ['JSON nested too deep', { body: '['.repeat(99) + ']'.repeat(99) }, 400],
    ['a key that is too long', { body: { type: 'noop' }, headers: { 'idempotency-key': 'x'.repeat(201) } }, 400],
    ['the key of another submit', { body: { type: 'echo' }, headers: { 'idempotency-key': 'both' } }, 409],
    ['an unknown preset', { body: { preset: 'nope' } }, 404],
    ['an unknown token', { body: { type: 'noop' }, token: 'stk_nobody' }, 401],
    ['no token', { body: { type: 'noop' }, token: null }, 401],
  ])('refuses %s with the same words', async (_, options, status) => {
    const [quick, ordinary] = await bothWays(options)
    expect([quick.status, isOrdinary(quick)]).toEqual([status, true])
    expect(quick.json).toEqual(ordinary.json)
  })

  it('is not for tokens that only read', async () => {
    const [quick, ordinary] = await bothWays({ body: { type: 'noop' }, token: await hub.token('read', 'bob') })
    expect(quick.status).toBe(403)
    expect(quick.json).toEqual(ordinary.json)
  })

  it('is slowed like the others', async () => {
    const token = await hub.token('submit', 'eve')
    const answers = await Promise.all(Array.from({ length: 120 }, () => send({ body: { type: 'noop' }, token })))
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toEqual(new Set([201, 429]))
    expect(answers.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1')
  })
})

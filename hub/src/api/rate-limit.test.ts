import { afterEach, expect, it } from 'vitest'
import { RateLimit } from '../serving/rate-limit.ts'
import { openTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub | null = null
afterEach(async () => {
  await hub?.close()
  hub = null
})

it('lets a burst pass at once, then so many a second, for each caller apart', () => {
  let now = 0
  const limit = new RateLimit(10, 20, () => now)
  const passed = (who: string) => Array.from({ length: 100 }, () => limit.take(who)).filter(wait => wait === 0).length
  expect([passed('ada'), passed('ada'), passed('bob')]).toEqual([20, 0, 20])
  expect(limit.take('ada')).toBe(100)
  now += 500
  expect(passed('ada')).toBe(5)
  now += 3600_000
  expect(passed('ada')).toBe(20)
  now -= 3600_000
  expect(passed('ada')).toBe(0)
})

it('lets something dearer than a burst pass too, and what follows waits for it', () => {
  let now = 0
  const limit = new RateLimit(10, 20, () => now)
  expect(limit.take('ada', 50)).toBe(0)
  expect(limit.take('ada')).toBe(3100)
  now += 3100
  expect(limit.take('ada')).toBe(0)
})

it('remembers only so many callers', () => {
  const limit = new RateLimit(1, 1, () => 0)
  for (let i = 0; i < 50_000; i += 1) limit.take(`address ${i}`)
  expect(limit.watched).toBe(10_000)
})

it('answers an owner who asks too fast with 429 and when to come again, and nobody else', async () => {
  let now = 1_000_000
  hub = await openTestHub({ now: () => now, limits: { perOwner: 5, strangers: 1000 } })
  const [first, second, other] = await Promise.all([
    hub.token('read', 'anna'),
    hub.token('read', 'anna'),
    hub.token('read', 'bob'),
  ])
  const me = (token: string) => hub?.call('GET', '/api/v1/me', { token })
  for (let i = 0; i < 5; i += 1) expect((await me(first))?.status).toBe(200)
  for (let i = 0; i < 5; i += 1) expect((await me(second))?.status).toBe(200)
  const limited = await me(first)
  expect(limited?.json).toMatchObject({ status: 429, code: 'rate.limited' })
  expect(limited?.json.detail).toContain('anna sends more than the 5 requests a second')
  expect(limited?.headers.get('retry-after')).toBe('1')
  expect((await me(other))?.status).toBe(200)
  expect((await hub.call('GET', '/api/v1/me')).status).toBe(200)
  now += 1000
  expect((await me(first))?.status).toBe(200)
})

it('counts a large body as many requests', async () => {
  hub = await openTestHub({ now: () => 1, limits: { perOwner: 50, strangers: 1000 } })
  const token = await hub.token('submit', 'anna')
  const jobs = Array.from({ length: 40 }, () => ({ command: 'x'.repeat(60_000) }))
  const submit = () => hub?.call('POST', '/api/v1/jobs', { token, body: { jobs } })
  expect([(await submit())?.status, (await submit())?.status, (await submit())?.status]).toEqual([201, 201, 429])
})

it('slows guesses and questions without a token by address, and a valid token passes all the same', async () => {
  hub = await openTestHub({ now: () => 1, limits: { perOwner: null, strangers: 2 } })
  const guess = () => hub?.call('GET', '/api/v1/me', { token: 'stk_a-guess-of-a-token' })
  const statuses = []
  for (let i = 0; i < 11; i += 1) statuses.push((await guess())?.status)
  expect(statuses).toEqual([...Array(10).fill(401), 429])
  expect((await hub.call('GET', '/health', { token: null })).headers.get('retry-after')).toBe('1')
  expect((await hub.call('GET', '/api/v1/me')).status).toBe(200)
})

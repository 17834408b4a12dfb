import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { unlessSilent } from './unless-silent.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('goes on as long as the work says that it is alive', async () => {
  let say = () => {}
  let end = (_: string) => {}
  const work = unlessSilent({ what: 'the work', ms: 1000 }, (_, alive) => {
    say = alive
    return new Promise<string>(resolve => {
      end = resolve
    })
  })
  for (let i = 0; i < 5; i += 1) {
    vi.advanceTimersByTime(900)
    say()
  }
  end('done')
  expect(await work).toBe('done')
})

it('gives up, and tells the work, after a silence', async () => {
  let stopped: unknown = null
  const work = unlessSilent({ what: 'the work', ms: 1000 }, signal => {
    signal.addEventListener('abort', () => {
      stopped = signal.reason
    })
    return new Promise<string>(() => {})
  })
  const refused = expect(work).rejects.toThrow('the work made no progress for 1 s')
  vi.advanceTimersByTime(1000)
  await refused
  expect(stopped).toBeInstanceOf(Error)
})

it('ends with the signal of the caller, for its reason', async () => {
  const stop = new AbortController()
  const work = unlessSilent({ what: 'the work', ms: 1000, signal: stop.signal }, () => new Promise<string>(() => {}))
  stop.abort(new Error('canceled by ann'))
  await expect(work).rejects.toThrow('canceled by ann')
})

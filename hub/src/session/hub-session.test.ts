import type { AttemptReport, WorkerMessage } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { aHello } from '../engine/test-house.ts'
import { HubSession, type HubSessionAction } from './hub-session.ts'

const NONE = new Uint8Array()
const admitted = { e: 'admitted', ackedBatch: 4, stale: [], draining: false, epoch: 100 } as const
const report = (n: number): WorkerMessage => ({ t: 'report', n, reports: [] as AttemptReport[], chunks: [] })

let session: HubSession
const hear = (message: WorkerMessage, payload = NONE) => session.step({ e: 'message', message, payload }, 0)
const kinds = (actions: readonly HubSessionAction[]) => actions.map(action => action.a)

beforeEach(() => {
  session = new HubSession({ now: 0, version: '0.1.0' })
})

describe('a hub session', () => {
  it('admits, then welcomes before anything else it was to say', () => {
    expect(kinds(hear(aHello('w')))).toEqual(['admit'])
    expect(session.step({ e: 'drain', on: true }, 0)).toEqual([])
    expect(session.step(admitted, 0)).toMatchObject([
      { message: { t: 'welcome', ackedBatch: 4 } },
      { message: { t: 'drain' } },
    ])
  })

  it('takes batches in order, passes repeats on, and closes on a gap', () => {
    hear(aHello('w'))
    session.step(admitted, 0)
    expect(kinds(hear(report(5)))).toEqual(['heard', 'take'])
    expect(kinds(hear(report(5)))).toEqual(['heard', 'take'])
    expect(kinds(hear(report(6)))).toEqual(['heard', 'take'])
    expect(hear(report(9))).toMatchObject([{ a: 'heard' }, { a: 'close', why: 'batch 9 came, batch 7 is next' }])
  })

  it('answers a beat with what is durable, never more', () => {
    hear(aHello('w'))
    session.step(admitted, 0)
    hear(report(5))
    expect(hear({ t: 'beat' })).toMatchObject([{ a: 'heard' }, { a: 'send', message: { t: 'ack', n: 4 } }])
    session.step({ e: 'reported', ackedBatch: 5, stale: [] }, 0)
    expect(hear({ t: 'beat' })).toMatchObject([{ a: 'heard' }, { a: 'send', message: { t: 'ack', n: 5 } }])
  })

  it('tells the worker what is stale', () => {
    hear(aHello('w'))
    session.step(admitted, 0)
    const fence = { job: 1, epoch: 1, attempt: 1 }
    expect(session.step({ e: 'reported', ackedBatch: 5, stale: [fence] }, 0)).toMatchObject([
      { message: { t: 'ack' } },
      { message: { t: 'stops', stops: [{ fence, cause: 'stale' }] } },
    ])
  })

  it('closes when bytes and announcement disagree', () => {
    hear(aHello('w'))
    session.step(admitted, 0)
    const chunk = { fence: { job: 1, epoch: 1, attempt: 1 }, stream: 'stdout' as const, offset: 0, length: 5, at: 0 }
    expect(hear({ t: 'report', n: 5, reports: [], chunks: [chunk] }, new Uint8Array(3))).toMatchObject([
      { a: 'heard' },
      { a: 'close', why: 'batch 5 announces 5 bytes of output and carries 3' },
    ])
  })

  it('closes on words before the hello, a second hello, silence, and another protocol', () => {
    expect(kinds(hear({ t: 'beat' }))).toEqual(['close'])
    session = new HubSession({ now: 0, version: '0.1.0' })
    hear(aHello('w'))
    expect(kinds(hear(aHello('w')))).toEqual(['close'])
    session = new HubSession({ now: 0, version: '0.1.0' })
    expect(session.step({ e: 'tick' }, 10_000)).toEqual([])
    expect(kinds(session.step({ e: 'tick' }, 10_001))).toEqual(['close'])
    session = new HubSession({ now: 0, version: '0.1.0' })
    expect(hear({ ...aHello('w'), protocol: { major: 2, minor: 0 } })).toMatchObject([
      { message: { t: 'refuse', final: true } },
      { a: 'close' },
    ])
  })
})

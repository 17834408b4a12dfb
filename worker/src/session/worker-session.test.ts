import { type HubMessage, type Offer, PROTOCOL, parseJobSpec } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SessionAction, SessionEvent } from './session-words.ts'
import { Spool } from './spool.ts'
import { WorkerSession } from './worker-session.ts'

const welcome: HubMessage = {
  t: 'welcome',
  protocol: PROTOCOL,
  version: '0.1.0',
  epoch: 5,
  ackedBatch: 0,
  creditBytes: 1_000_000,
  beatMs: 3000,
  liveMs: 10_000,
  stale: [],
  draining: false,
}
const fence = { job: 1, epoch: 5, attempt: 1 }

function anOffer(job = 1): Offer {
  const parsed = parseJobSpec({ type: 'noop' })
  if (!parsed.ok) throw new Error('bad spec')
  return { fence: { ...fence, job }, id: 'x', spec: parsed.spec, gpus: [] }
}

function anEnd(job: number): Extract<SessionEvent, { e: 'report' }> {
  const none = { startedAt: 1, exitCode: 0, signal: null, error: null, note: null, result: null, usage: null }
  return {
    e: 'report',
    reports: [{ kind: 'ended', fence: { ...fence, job }, at: 2, outcome: 'completed', ...none }],
  }
}

function aRunning(job: number): SessionEvent {
  return { e: 'report', reports: [{ kind: 'running', fence: { ...fence, job }, at: 1, isolation: 'inline' }] }
}

let session: WorkerSession
const kinds = (actions: readonly SessionAction[]) => actions.map(action => action.a)
const hear = (message: HubMessage, now = 0) => session.step({ e: 'message', message }, now)

beforeEach(() => {
  session = new WorkerSession({ spool: new Spool(), epochSeen: 0, holding: [], random: () => 0.5 })
})

describe('a worker session', () => {
  it('greets, is welcomed, beats every three seconds, and says nothing else', () => {
    expect(kinds(session.start())).toEqual(['dial'])
    expect(kinds(session.step({ e: 'connected' }, 0))).toEqual(['hello'])
    expect(kinds(hear(welcome))).toEqual(['welcomed', 'acked'])
    expect(session.step({ e: 'tick' }, 2999)).toEqual([])
    expect(kinds(session.step({ e: 'tick' }, 3000))).toEqual(['beat'])
  })

  it('starts an offer once, however often it is repeated', () => {
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    expect(kinds(hear({ t: 'offers', offers: [anOffer(), anOffer()] }))).toEqual(['start'])
    expect(hear({ t: 'offers', offers: [anOffer()] })).toEqual([])
  })

  it('declines offers while draining', () => {
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    session.step({ e: 'drain', on: true }, 0)
    expect(hear({ t: 'offers', offers: [anOffer()] })).toMatchObject([
      { a: 'batch', batch: { reports: [{ kind: 'declined' }] } },
    ])
  })

  it('keeps what it could not say and resends it as it was', () => {
    const report = { kind: 'running', fence, at: 1, isolation: 'inline' } as const
    expect(session.step({ e: 'report', reports: [report] }, 0)).toEqual([])
    session.step({ e: 'connected' }, 0)
    const first = hear(welcome).filter(action => action.a === 'batch')
    expect(first).toMatchObject([{ resent: false, batch: { n: 1, reports: [report] } }])
    session.step({ e: 'closed' }, 1)
    expect(session.step({ e: 'connected' }, 2)).toMatchObject([
      { a: 'hello', hello: { nextBatch: 1, holding: [{ fence, state: 'running' }] } },
    ])
    expect(hear(welcome).filter(action => action.a === 'batch')).toMatchObject([
      { resent: true, batch: { n: 1, reports: [report] } },
    ])
  })

  it('says in one batch what is reported in one moment', () => {
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    for (const job of [1, 2, 3]) expect(session.step(aRunning(job), 0)).toEqual([])
    const [batch, ...rest] = session.step({ e: 'flush' }, 0)
    expect(batch).toMatchObject({ a: 'batch', batch: { reports: [1, 2, 3].map(job => ({ fence: { job } })) } })
    expect(rest).toEqual([])
    expect(session.step({ e: 'flush' }, 0)).toEqual([])
  })

  it('says a batch at once that could not grow any more', () => {
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    const said = Array.from({ length: 1100 }, (_, job) => session.step(aRunning(job), 0)).flat()
    expect(said.map(action => (action.a === 'batch' ? action.batch.reports.length : 0))).toEqual([512, 512])
  })

  it('sends what it has to say before it starts or stops what may say more', () => {
    const stale = { ...fence, job: 9 }
    session.step(aRunning(9), 0)
    session.step({ e: 'connected' }, 0)
    expect(kinds(hear({ ...welcome, stale: [stale] }))).toEqual(['welcomed', 'acked', 'batch', 'stop'])
    session.step(aRunning(2), 0)
    expect(kinds(hear({ t: 'offers', offers: [anOffer()] }, 10))).toEqual(['batch', 'start'])
  })

  it('lets ends wait for each other while most programs run, and tells the output of each before its end', () => {
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    hear({ t: 'offers', offers: [1, 2, 3, 4, 5, 6].map(anOffer) })
    session.step(anEnd(1), 100)
    expect(kinds(session.step({ e: 'flush' }, 100))).toEqual(['batch'])
    session.step(anEnd(2), 101)
    expect(session.step({ e: 'flush' }, 101)).toEqual([{ a: 'gather', inMs: 4 }])
    expect(kinds(hear({ t: 'ack', n: 1 }, 102))).toEqual(['acked'])
    const fence3 = { ...fence, job: 3 }
    session.step({ ...anEnd(3), output: { fence: fence3, sizes: { stdout: 7, stderr: 0 } } }, 103)
    expect(session.step({ e: 'flush' }, 103)).toEqual([{ a: 'gather', inMs: 2 }])
    expect(session.step({ e: 'flush' }, 105)).toMatchObject([
      {
        a: 'batch',
        batch: { reports: [{ fence: { job: 2 } }, { fence: fence3 }], chunks: [{ fence: fence3, length: 7 }] },
      },
    ])
  })

  it('says what had no credit as soon as an acknowledgement gives it', () => {
    session.step({ e: 'connected' }, 0)
    hear({ ...welcome, creditBytes: 10 })
    hear({ t: 'offers', offers: [1, 2, 3].map(anOffer) })
    const grew = (stdout: number): SessionEvent => ({ e: 'output', fence, sizes: { stdout, stderr: 0 } })
    session.step(grew(10), 0)
    expect(kinds(session.step({ e: 'flush' }, 0))).toEqual(['batch'])
    session.step(grew(15), 2)
    expect(session.step({ e: 'flush' }, 2)).toEqual([])
    expect(hear({ t: 'ack', n: 1 }, 2)).toMatchObject([
      { a: 'acked' },
      { batch: { chunks: [{ offset: 10, length: 5 }] } },
    ])
  })

  it('stops what the hub calls stale, and nothing it does not hold', () => {
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    hear({ t: 'offers', offers: [anOffer()] })
    expect(
      hear({
        t: 'stops',
        stops: [
          { fence, cause: 'stale', by: null },
          { fence: { ...fence, job: 9 }, cause: 'stale', by: null },
        ],
      }),
    ).toMatchObject([{ a: 'stop', stop: { fence } }])
  })

  it('waits longer after each failed try, up to a ceiling', () => {
    const waits = Array.from({ length: 12 }, () => session.step({ e: 'closed' }, 0)[0]).map(action =>
      action?.a === 'dial' ? action.inMs : 0,
    )
    expect(waits.slice(0, 4)).toEqual([150, 300, 600, 1200])
    expect(waits.at(-1)).toBe(3_000)
  })

  it('hangs up on a silent hub, an older epoch, and a hub of another protocol', () => {
    session.step({ e: 'connected' }, 0)
    expect(kinds(session.step({ e: 'tick' }, 10_001))).toEqual(['hang up'])
    session.step({ e: 'connected' }, 0)
    hear(welcome)
    session.step({ e: 'closed' }, 0)
    session.step({ e: 'connected' }, 0)
    expect(hear({ ...welcome, epoch: 4 })).toMatchObject([
      { a: 'hang up', why: expect.stringMatching(/epoch 4, epoch 5 was seen/) },
    ])
    expect(kinds(hear({ ...welcome, protocol: { major: 9, minor: 0 } }))).toEqual(['refused', 'hang up'])
    expect(session.step({ e: 'closed' }, 0)).toEqual([])
  })
})

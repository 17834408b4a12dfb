import { type Fence, type HubMessage, PROTOCOL } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { Spool } from './spool.ts'
import { WorkerSession } from './worker-session.ts'

const FENCE: Fence = { job: 1, epoch: 1, attempt: 1 }

function aSession(spool = new Spool()): WorkerSession {
  return new WorkerSession({ spool, epochSeen: 0, holding: [], random: () => 0.5 })
}

function welcome(draining: boolean): HubMessage {
  const limits = { creditBytes: 1000, beatMs: 3000, liveMs: 10_000 }
  return { t: 'welcome', protocol: PROTOCOL, version: '', epoch: 1, ackedBatch: 0, ...limits, stale: [], draining }
}

function helloOf(session: WorkerSession) {
  const [action] = session.step({ e: 'connected' }, 0)
  return action?.a === 'hello' ? action.hello : null
}

it('an end that waits to be resent is still held after a restart, so the hub does not take its attempt for lost', () => {
  const spool = new Spool()
  const rest = { startedAt: null, exitCode: 0, signal: null, error: null, note: null, result: null, usage: null }
  spool.report({ kind: 'ended', fence: FENCE, at: 1, outcome: 'completed', ...rest })
  spool.next(0, 1000)
  expect(helloOf(aSession(spool))?.holding).toEqual([{ fence: FENCE, state: 'ended', startedAt: null }])
})

it("a hub's drain ends with the hub's next word and is not told back to it as the worker's own wish", () => {
  const session = aSession()
  session.step({ e: 'connected' }, 0)
  session.step({ e: 'message', message: welcome(true) }, 0)
  session.step({ e: 'closed' }, 1)
  expect(helloOf(session)?.draining).toBe(false)
  session.step({ e: 'drain', on: true }, 2)
  session.step({ e: 'closed' }, 3)
  expect(helloOf(session)?.draining).toBe(true)
})

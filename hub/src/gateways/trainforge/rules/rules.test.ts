import { describe, expect, it } from 'vitest'
import { mostFor } from './ask.ts'
import { fastPolls, isTooFast, strangerIn } from './conflict.ts'
import { judgeCount } from './lost-completion.ts'
import { declinedBy } from './offer-lease.ts'
import { lostBy } from './presence.ts'
import { aHeldOne, aHolder } from './test-held.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND

describe('an offer', () => {
  const offer = (over = {}) => aHeldOne({ phase: 'offered', ...over })

  it('is declined two seconds after its worker asked for more', () => {
    const held = offer({ polledAt: 5 * SECOND })
    const worker = aHolder([held], { heardAt: 5 * SECOND })
    expect(declinedBy(held, worker, 6.9 * SECOND)).toBeNull()
    expect(declinedBy(held, worker, 7 * SECOND)).toContain('asked for more')
  })

  it('is declined after fifteen seconds if its worker calls but does not poll', () => {
    const held = offer()
    expect(declinedBy(held, aHolder([held], { heardAt: 9 * SECOND }), 14 * SECOND)).toBeNull()
    expect(declinedBy(held, aHolder([held], { heardAt: 9 * SECOND }), 15 * SECOND)).toContain('within 15 s')
  })

  it('stands while its worker is silent, and while that is silent because it may be full', () => {
    const held = offer()
    expect(declinedBy(held, aHolder([held], { heardAt: 0 }), HOUR)).toBeNull()
    const full = aHolder([held], { maxJobs: 1, heardAt: SECOND })
    expect(declinedBy(held, full, HOUR)).toBeNull()
  })

  it('that an earlier process of the hub gave out is settled by a poll only if its worker has one slot', () => {
    const held = offer({ isUnconfirmed: true, polledAt: SECOND })
    expect(declinedBy(held, aHolder([held], { heardAt: SECOND }), 80 * SECOND)).toBeNull()
    expect(lostBy(held, aHolder([held], { heardAt: SECOND }), 29 * SECOND)).toBeNull()
    expect(declinedBy(held, aHolder([held], { maxJobs: 1, heardAt: SECOND }), 3 * SECOND)).not.toBeNull()
    expect(lostBy(held, aHolder([held], { heardAt: SECOND }), 30 * SECOND)).toContain('did not call')
    expect(lostBy(held, aHolder([held]), 80 * SECOND)).toBeNull()
  })

  it.each(['preparing', 'ready', 'running', 'lost'] as const)('is none once it is %s', phase => {
    const held = offer({ phase, polledAt: SECOND })
    expect(declinedBy(held, aHolder([held], { heardAt: SECOND }), HOUR)).toBeNull()
  })
})

describe('silence', () => {
  it('loses what a worker with a free slot has, after ninety seconds', () => {
    const held = aHeldOne()
    expect(lostBy(held, aHolder([held]), 89 * SECOND)).toBeNull()
    expect(lostBy(held, aHolder([held]), 90 * SECOND)).toContain('though it had a free slot')
  })

  it('says nothing of a full worker until the time of the job is over', () => {
    const held = aHeldOne()
    const full = aHolder([held], { maxJobs: 1 })
    expect(lostBy(held, full, 11 * HOUR)).toBeNull()
    expect(lostBy(held, full, 12 * HOUR)).toContain('720 minutes')
    const short = aHeldOne({ timeoutMs: HOUR })
    expect(lostBy(short, aHolder([short], { maxJobs: 1 }), HOUR)).toContain('60 minutes')
  })

  it('of the program itself counts from its last call, whatever its worker does', () => {
    const held = aHeldOne({ checkedInAt: 60 * SECOND })
    const silent = aHolder([held], { maxJobs: 1 })
    expect(lostBy(held, silent, 149 * SECOND)).toBeNull()
    expect(lostBy(held, silent, 150 * SECOND)).toContain('did not check in for 90 s')
    const loud = aHolder([held], { heardAt: 150 * SECOND })
    expect(lostBy(held, loud, 150 * SECOND)).not.toBeNull()
  })

  it('loses nothing twice', () => {
    const held = aHeldOne({ phase: 'lost' })
    expect(lostBy(held, aHolder([held]), 24 * HOUR)).toBeNull()
  })
})

describe('a worker with fewer jobs than the hub knows of', () => {
  it('has lost a report, if that is so in two further calls and for ten seconds', () => {
    const [held] = [aHeldOne()]
    const first = judgeCount([held], 0, null, 0)
    expect(first).toEqual({ excess: { since: 0, calls: 0 }, over: [], doubtful: [] })
    const second = judgeCount([held], 0, first.excess, 5 * SECOND)
    expect(second.over).toEqual([])
    expect(judgeCount([held], 0, { since: 0, calls: 5 }, 9 * SECOND).over).toEqual([])
    expect(judgeCount([held], 0, second.excess, 10 * SECOND)).toEqual({ excess: null, over: [held], doubtful: [] })
  })

  it('has lost nothing when the report came meanwhile', () => {
    expect(judgeCount([aHeldOne()], 1, { since: 0, calls: 5 }, HOUR)).toEqual({ excess: null, over: [], doubtful: [] })
  })

  it('is asked for the one that does not check in; without check-ins nobody can tell which ended', () => {
    const [alive, silent] = [aHeldOne({ checkedInAt: 20 * SECOND }), aHeldOne()]
    const late = { since: 0, calls: 9 }
    expect(judgeCount([alive, silent], 1, late, 30 * SECOND).over).toEqual([silent])
    const both = [aHeldOne(), aHeldOne()]
    expect(judgeCount(both, 1, late, 30 * SECOND)).toEqual({
      excess: { since: 0, calls: 10 },
      over: [],
      doubtful: both,
    })
    expect(judgeCount([alive], 0, late, 30 * SECOND).over).toEqual([])
  })

  it('never had an offer it did not take up, unless nobody knows whether it did', () => {
    const late = { since: 0, calls: 9 }
    expect(judgeCount([aHeldOne({ phase: 'offered' })], 0, late, HOUR).over).toEqual([])
    const unconfirmed = aHeldOne({ phase: 'offered', isUnconfirmed: true })
    expect(judgeCount([unconfirmed], 0, late, HOUR).over).toEqual([unconfirmed])
  })
})

describe('a worker that asks', () => {
  const asker = { maxJobs: 4, busy: 1, lingering: 0, lingersOnGpu: false, declines: 0, declinedAt: 0 }

  it('gets as many as it has slots, less what its node has not freed yet', () => {
    expect(mostFor(asker, 0)).toBe(3)
    expect(mostFor({ ...asker, lingering: 2 }, 0)).toBe(1)
    expect(mostFor({ ...asker, busy: 9 }, 0)).toBe(0)
    expect(mostFor({ ...asker, lingersOnGpu: true }, 0)).toBe(0)
  })

  it('gets one at a time after it declined, and less and less often if it goes on', () => {
    expect(mostFor({ ...asker, declines: 1 }, 0)).toBe(1)
    expect(mostFor({ ...asker, declines: 3 }, 14 * SECOND)).toBe(0)
    expect(mostFor({ ...asker, declines: 3 }, 15 * SECOND)).toBe(1)
    expect(mostFor({ ...asker, declines: 5 }, 59 * SECOND)).toBe(0)
    expect(mostFor({ ...asker, declines: 50 }, 600 * SECOND)).toBe(1)
  })
})

describe('two live workers under one id', () => {
  const seen = { at: 0, address: '10.0.0.1', hostname: 'a' }

  it.each([
    ['another address', { ...seen, at: SECOND, address: '10.0.0.2' }, /10.0.0.1 and from 10.0.0.2/],
    ['another host', { ...seen, at: SECOND, hostname: 'b' }, /hosts a and b/],
  ])('are noticed by %s', (_, next, why) => {
    expect(strangerIn(seen, next)).toMatch(why)
  })

  it('are not suspected of one that moved, was silent, or tells no host', () => {
    expect(strangerIn(null, seen)).toBeNull()
    expect(strangerIn(seen, { ...seen, at: 90 * SECOND, address: '10.0.0.2' })).toBeNull()
    expect(strangerIn(seen, { ...seen, at: SECOND, hostname: null })).toBeNull()
  })

  it('are noticed by two polls in a row that come too soon', () => {
    const once = fastPolls(0, SECOND)
    expect([isTooFast(once), isTooFast(fastPolls(once, 3.9 * SECOND)), fastPolls(once, 4 * SECOND)]).toEqual([
      false,
      true,
      0,
    ])
  })
})

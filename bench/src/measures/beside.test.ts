import { describe, expect, it } from 'vitest'
import { opened, raceBeside, raceWaits, turn } from './beside.ts'

const peer = { figure: 7 }
const missing = { notMeasured: 'it is not installed' }

describe('a race beside others', () => {
  it('has five rounds of those who are there, and the reason of those who are not', async () => {
    let turns = 0
    const found = await raceBeside(async () => 1, {
      beanstalkd: turn(peer, async ({ figure }) => {
        turns += 1
        return figure
      }),
      Slurm: turn(missing, async () => 9),
    })
    expect(found).toEqual({ ours: [1, 1, 1, 1, 1], peers: { beanstalkd: [7, 7, 7, 7, 7], Slurm: missing } })
    expect(turns).toBe(6)
  })

  it('tells the middle and the worst percent of every round but the warm-up', async () => {
    let round = 0
    const { p50, p99 } = await raceWaits(
      async () => {
        round += 1
        return [round, round, round * 10]
      },
      { Celery: missing },
    )
    expect(p50).toEqual({ ours: [2, 3, 4, 5, 6], peers: { Celery: missing } })
    expect(p99.ours).toEqual([19.64, 29.46, 39.28, 49.1, 58.92].map(wait => expect.closeTo(wait)))
  })
})

describe('a peer', () => {
  it('is prepared once it is open', async () => {
    const prepared: unknown[] = []
    expect(await opened(Promise.resolve(peer), async it => void prepared.push(it))).toBe(peer)
    expect(await opened(Promise.resolve(missing), async it => void prepared.push(it))).toBe(missing)
    expect(prepared).toEqual([peer])
  })

  it('that does not start, or not its worker, is not measured and says why', async () => {
    const why = { notMeasured: 'it would not start: no port' }
    const fails = () => Promise.reject(new Error('no port'))
    expect(await opened(fails())).toEqual(why)
    expect(await opened(Promise.resolve(peer), fails)).toEqual(why)
  })
})

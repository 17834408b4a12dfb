import type { AttemptReport, Fence } from '@stoker/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Spool } from './spool.ts'

const CREDIT = 1024 * 1024
const fence = (job: number): Fence => ({ job, epoch: 1, attempt: 1 })
const ended = (job: number): AttemptReport => ({
  kind: 'ended',
  fence: fence(job),
  at: 0,
  outcome: 'completed',
  startedAt: 0,
  exitCode: 0,
  signal: null,
  error: null,
  note: null,
  result: null,
  usage: null,
})

describe('the spool', () => {
  it('tells an end after all output of its attempt, and others are not kept waiting by a flood', () => {
    const spool = new Spool()
    spool.outputGrew(fence(1), { stdout: 500_000, stderr: 10 })
    spool.report(ended(1))
    spool.report(ended(2))
    const first = spool.next(0, CREDIT)
    expect(first?.reports).toEqual([ended(2)])
    const rest = []
    for (let batch = spool.next(0, CREDIT); batch !== null; batch = spool.next(0, CREDIT)) rest.push(batch)
    expect(rest.at(-1)?.reports).toEqual([ended(1)])
    const sent = [first, ...rest].flatMap(batch => batch?.chunks ?? []).filter(chunk => chunk.stream === 'stdout')
    expect(sent.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(500_000)
  })

  it('sends no more output than its credit, until some is acknowledged', () => {
    const spool = new Spool()
    spool.outputGrew(fence(1), { stdout: 10_000_000, stderr: 0 })
    let bytes = 0
    for (let batch = spool.next(0, CREDIT); batch !== null; batch = spool.next(0, CREDIT))
      bytes += batch.chunks.reduce((s, c) => s + c.length, 0)
    expect(bytes).toBe(CREDIT)
    spool.ack(1)
    expect(spool.next(0, CREDIT)).not.toBeNull()
  })

  it('still reports ends when the credit is used up', () => {
    const spool = new Spool()
    spool.outputGrew(fence(1), { stdout: 10_000_000, stderr: 0 })
    while (spool.next(0, CREDIT) !== null);
    spool.report(ended(2))
    expect(spool.next(0, CREDIT)?.reports).toEqual([ended(2)])
  })

  it('resends exactly what it sent, under the same numbers, after a restart too', () => {
    const spool = new Spool()
    spool.report(ended(1))
    spool.outputGrew(fence(2), { stdout: 5, stderr: 0 })
    const sent = spool.next(7, CREDIT)
    const again = new Spool({ next: spool.nextNumber, batches: spool.unacked, taken: spool.positions })
    expect(again.unacked).toEqual([sent])
    expect(again.firstUnacked).toBe(1)
    again.outputGrew(fence(2), { stdout: 9, stderr: 0 })
    expect(again.next(8, CREDIT)).toMatchObject({ n: 2, chunks: [{ offset: 5, length: 4 }] })
  })

  it('covers every byte exactly once, in order, whatever the acknowledgements and growth', () => {
    const step = fc.oneof(
      fc.record({
        grow: fc.integer({ min: 1, max: 3 }),
        by: fc.integer({ min: 1, max: 400_000 }),
        stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      }),
      fc.constant('send' as const),
      fc.constant('ack' as const),
      fc.constant('restart' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        let spool = new Spool()
        const sizes = new Map<number, { stdout: number; stderr: number }>()
        const seen = new Map<string, number>()
        let lastN = 0
        const take = () => {
          const batch = spool.next(0, CREDIT)
          if (batch === null) return false
          expect(batch.n).toBe(lastN + 1)
          lastN = batch.n
          for (const chunk of batch.chunks) {
            const key = `${chunk.fence.job}-${chunk.stream}`
            expect(chunk.offset).toBe(seen.get(key) ?? 0)
            seen.set(key, chunk.offset + chunk.length)
          }
          return true
        }
        for (const s of steps) {
          if (s === 'send') take()
          else if (s === 'ack') spool.ack(lastN)
          else if (s === 'restart') {
            spool = new Spool({ next: spool.nextNumber, batches: spool.unacked, taken: spool.positions })
            for (const [job, size] of sizes) spool.outputGrew(fence(job), size)
          } else {
            const size = sizes.get(s.grow) ?? { stdout: 0, stderr: 0 }
            size[s.stream] += s.by
            sizes.set(s.grow, size)
            spool.outputGrew(fence(s.grow), size)
          }
        }
        do spool.ack(lastN)
        while (take())
        for (const [job, size] of sizes) {
          expect([seen.get(`${job}-stdout`) ?? 0, seen.get(`${job}-stderr`) ?? 0]).toEqual([size.stdout, size.stderr])
        }
        expect(spool.isEmpty).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

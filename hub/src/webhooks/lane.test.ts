import type { DeliveryRow, RowWrite } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { Lane, type Try } from './lane.ts'

const HOUR_MS = 3600_000

/** One target with a table of its own and a clock in the test's hands. */
class Bench {
  now = 1_000_000
  readonly rows = new Map<number, DeliveryRow>()
  readonly tried: number[] = []
  readonly later: number[] = []
  answer: (job: number) => Try = () => ({ status: 204 })
  readonly lane = new Lane({
    pending: async limit =>
      [...this.rows.values()]
        .filter(row => row.dueAt !== null)
        .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, limit),
    attempt: async ({ job }) => {
      this.tried.push(job)
      return this.answer(job)
    },
    write: async rows => {
      for (const row of rows) this.#write(row)
    },
    now: () => this.now,
    random: () => 1,
    later: ms => this.later.push(ms),
  })

  add(job: number): void {
    const times = { dueAt: this.now, createdAt: this.now, endedAt: null }
    this.rows.set(job, { webhook: 'w', job, state: 'pending', tries: 0, ...times, status: null, error: null })
  }

  async wake(): Promise<void> {
    this.lane.wake()
    await this.lane.settled()
  }

  #write(write: RowWrite): void {
    if (write.table !== 'delivery') throw new Error(`a lane writes deliveries, not ${write.table}`)
    if (write.op === 'delete') this.rows.delete(write.key.job ?? -1)
    if (write.op !== 'update') return
    const row = this.rows.get(write.key.job)
    if (row === undefined) throw new Error(`no row of job ${write.key.job}`)
    this.rows.set(write.key.job, { ...row, ...write.set })
  }
}

it('tells everything that is due, page after page, and rests', async () => {
  const bench = new Bench()
  for (let job = 1; job <= 100; job++) bench.add(job)
  await bench.wake()
  expect(bench.tried).toHaveLength(100)
  expect([...bench.rows.values()].every(row => row.state === 'delivered' && row.dueAt === null)).toBe(true)
  expect(bench.later).toEqual([])
})

it('tries again later and later, says why, and gives up after a day', async () => {
  const bench = new Bench()
  bench.answer = () => ({ status: 503 })
  bench.add(1)
  await bench.wake()
  expect(bench.rows.get(1)).toMatchObject({ state: 'pending', tries: 1, status: 503, dueAt: bench.now + 2_000 })
  expect(bench.rows.get(1)?.error).toBe('a 2xx answer is needed, the target gave 503')
  expect(bench.later).toEqual([2_000])
  await bench.wake()
  expect(bench.tried).toEqual([1])
  bench.answer = () => ({ error: 'refused' })
  for (let waits = 0; bench.rows.get(1)?.state === 'pending' && waits < 100; waits++) {
    bench.now += bench.later.at(-1) ?? 0
    await bench.wake()
  }
  expect(bench.rows.get(1)).toMatchObject({ state: 'failed', dueAt: null, error: 'refused', endedAt: bench.now })
  expect(bench.now).toBeGreaterThan(1_000_000 + 24 * HOUR_MS)
  expect(bench.now).toBeLessThan(1_000_000 + 26 * HOUR_MS)
  expect(Math.max(...bench.later)).toBe(HOUR_MS)
})

it('drops what there is nothing to tell about and leaves what was cut off by the end of the hub', async () => {
  const bench = new Bench()
  bench.answer = job => (job === 1 ? 'drop' : 'left')
  bench.add(1)
  await bench.wake()
  expect(bench.rows.size).toBe(0)
})

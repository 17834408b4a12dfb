import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OutputPiece, StreamGap, type StreamName, type Streams } from '../port.ts'
import { aFence, readAll } from './reading.ts'
import type { StreamsHouse } from './streams-contract.ts'

const JOBS = [1, 2]
const LENGTH = 400
const NAMES: readonly StreamName[] = ['stdout', 'stderr']

/** What each stream will contain in the end: lines of uneven length, different for every stream. */
function contentOf(job: number, stream: StreamName): Buffer {
  const seed = job * 31 + (stream === 'stdout' ? 0 : 17)
  return Buffer.from(Array.from({ length: LENGTH }, (_, i) => ((i * i + seed) % 7 === 0 ? 10 : 97 + ((i + seed) % 26))))
}

const piece = fc.record({
  job: fc.constantFrom(...JOBS),
  stream: fc.constantFrom(...NAMES),
  /** Where to begin, relative to what is known: negative repeats, positive leaves a gap. */
  shift: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -60, max: 0 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) },
  ),
  length: fc.integer({ min: 0, max: 90 }),
})

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      pieces: fc.array(piece, { maxLength: 5 }),
      commit: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), job: fc.constantFrom(...JOBS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Any order of appends, failed commits, restarts and seals must not change what is read. */
export function streamsProperties<House extends StreamsHouse>(
  name: string,
  build: () => Promise<House>,
  after?: (house: House) => Promise<void>,
): void {
  describe(`${name} streams, in any order of events`, () => {
    it('read back exactly the bytes taken, and find lines where they are', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
          const house = await build()
          const walk = new Walk(house, await house.open())
          try {
            for (const next of steps) await walk.take(next)
            await walk.checkAll()
            await after?.(house)
          } finally {
            await walk.streams.close()
            await house.dispose()
          }
        }),
        { numRuns: 150 },
      )
    }, 60_000)
  })
}

class Walk {
  streams: Streams
  readonly #house: StreamsHouse
  readonly #known = new Map<string, number>()
  #committed = new Map<string, number>()
  #live = new Map<string, number>()
  #stops: (() => void)[] = []

  constructor(house: StreamsHouse, streams: Streams) {
    this.#house = house
    this.streams = streams
    this.#watch()
  }

  async take(next: Step): Promise<void> {
    if (next.kind === 'append') await this.#append(next)
    else if (next.kind === 'sweep') await this.streams.sweep()
    else if (next.kind === 'restart') await this.#restart()
    else {
      this.#house.table.end(aFence(next.job))
      this.streams.ended(aFence(next.job))
    }
  }

  async checkAll(): Promise<void> {
    for (const job of JOBS) {
      const all = await readAll(this.streams, aFence(job), { maxBytes: 50 })
      for (const stream of NAMES) {
        const known = this.#known.get(`${job}/${stream}`) ?? 0
        const expected = contentOf(job, stream).subarray(0, known)
        expect(all[stream]).toBe(expected.toString('latin1'))
        expect(this.#live.get(`${job}/${stream}`) ?? 0).toBe(known)
        for (const lines of [1, 2, 7]) {
          expect((await this.streams.seekTail(aFence(job), lines))[stream]).toBe(tailOf(expected, lines))
        }
      }
    }
  }

  async #append({ pieces, commit }: Extract<Step, { kind: 'append' }>): Promise<void> {
    const ends = new Map(this.#known)
    let gap = false
    const chunks = pieces.map(({ job, stream, shift, length }) => {
      const key = `${job}/${stream}`
      const end = ends.get(key) ?? 0
      const offset = Math.max(0, end + shift)
      const bytes = contentOf(job, stream).subarray(offset, offset + length)
      gap ||= offset > end
      ends.set(key, Math.max(end, offset + bytes.length))
      return { fence: aFence(job), stream, offset, at: 1_000, bytes }
    })
    if (gap) return void (await expect(this.streams.append(chunks)).rejects.toThrow(StreamGap))
    const rows = await this.streams.append(chunks)
    for (const [key, end] of ends) this.#known.set(key, end)
    if (!commit) return
    this.#house.table.commit(rows)
    this.streams.committed(rows)
    for (const chunk of chunks) {
      const key = `${chunk.fence.job}/${chunk.stream}`
      this.#committed.set(key, ends.get(key) ?? 0)
    }
  }

  /** What no commit covered is forgotten and would be sent again. */
  async #restart(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    await this.streams.close()
    this.streams = await this.#house.open()
    for (const key of this.#known.keys()) this.#known.set(key, this.#committed.get(key) ?? 0)
    this.#live = new Map(this.#committed)
    this.#watch()
  }

  #watch(): void {
    for (const job of JOBS) this.#stops.push(this.streams.watch(aFence(job), seen => this.#see(job, seen)))
  }

  /** Live bytes come without gap or repeat. */
  #see(job: number, seen: OutputPiece | 'lagged'): void {
    if (seen === 'lagged') throw new Error('a quick watcher should see every byte, it was told it lagged')
    const key = `${job}/${seen.stream}`
    expect(seen.offset).toBe(this.#live.get(key) ?? 0)
    this.#live.set(key, seen.offset + seen.bytes.length)
  }
}

function tailOf(content: Buffer, lines: number): number {
  const text = content.toString('latin1')
  const parts = text.split('\n')
  if (parts.at(-1) === '') parts.pop()
  const kept = parts.slice(-lines).join('\n').length + (text.endsWith('\n') ? 1 : 0)
  return parts.length === 0 ? 0 : text.length - kept
}

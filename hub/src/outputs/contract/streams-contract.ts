import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OutputChunk, type OutputPiece, StreamGap, type Streams } from '../port.ts'
import { aChunk, aFence, readAll, START } from './reading.ts'
import type { RowTable } from './row-table.ts'

/** Streams over a storage that outlives them. */
export interface StreamsHouse {
  readonly table: RowTable
  open(): Promise<Streams>
  /** Fails if anything is left open. */
  dispose(): Promise<void>
}

/** What every implementation of the streams promises. */
export function streamsContract(name: string, build: () => Promise<StreamsHouse>): void {
  describe(`${name} streams`, () => {
    let house: StreamsHouse
    let streams: Streams
    const fence = aFence()

    beforeEach(async () => {
      house = await build()
      streams = await house.open()
    })
    afterEach(async () => {
      await streams.close()
      await house.dispose()
    })

    async function append(...chunks: OutputChunk[]): Promise<number> {
      const rows = await streams.append(chunks)
      house.table.commit(rows)
      streams.committed(rows)
      return rows.length
    }

    async function restart(): Promise<void> {
      await streams.close()
      streams = await house.open()
    }

    async function seal(): Promise<void> {
      house.table.end(fence)
      streams.ended(fence)
      await restart()
      await streams.sweep()
    }

    it('gives back what was appended, in order of arrival across streams', async () => {
      await append(aChunk(0, 'one\n'), aChunk(0, 'oops\n', { stream: 'stderr' }), aChunk(4, 'two\n'))
      await append(aChunk(5, 'again\n', { stream: 'stderr' }))
      const { pieces } = await readAll(streams, fence)
      const texts = pieces.map(piece => `${piece.stream} ${piece.offset} ${Buffer.from(piece.bytes)}`)
      expect(texts).toEqual(['stdout 0 one\n', 'stderr 0 oops\n', 'stdout 4 two\n', 'stderr 5 again\n'])
      expect(await streams.sizes(fence)).toEqual({ stdout: 8, stderr: 11 })
    })

    it('keeps attempts apart', async () => {
      await append(aChunk(0, 'mine'), aChunk(0, 'yours', { fence: aFence(2) }))
      expect((await readAll(streams, fence)).stdout).toBe('mine')
      expect((await readAll(streams, aFence(2))).stdout).toBe('yours')
      expect((await readAll(streams, aFence(3))).pieces).toEqual([])
    })

    it('merges small neighbours into one row and keeps their bytes', async () => {
      expect(await append(aChunk(0, 'a\n'), aChunk(2, 'b\n'), aChunk(4, 'c\n'))).toBe(1)
      expect((await readAll(streams, fence)).stdout).toBe('a\nb\nc\n')
    })

    it('skips bytes it knows and cuts what overlaps them', async () => {
      await append(aChunk(0, 'abcdef'))
      expect(await append(aChunk(2, 'cd'))).toBe(0)
      await append(aChunk(4, 'efghi'), aChunk(7, 'hij'))
      expect((await readAll(streams, fence)).stdout).toBe('abcdefghij')
    })

    it('refuses a gap with both offsets and takes nothing of that append', async () => {
      await append(aChunk(0, 'abc'))
      const gap = streams.append([aChunk(0, 'fine', { stream: 'stderr' }), aChunk(5, 'f')])
      await expect(gap).rejects.toThrow(StreamGap)
      await expect(gap).rejects.toThrow('known up to byte 3, the chunk begins at byte 5')
      expect(await streams.sizes(fence)).toEqual({ stdout: 3, stderr: 0 })
    })

    it('hands rows out again, with those that follow, until they are committed', async () => {
      const lost = await streams.append([aChunk(0, 'abc')])
      expect(await streams.append([aChunk(0, 'abc')])).toEqual(lost)
      expect(await append(aChunk(3, 'def'))).toBe(2)
      expect(await append(aChunk(0, 'abcdef'))).toBe(0)
      await restart()
      expect((await readAll(streams, fence)).stdout).toBe('abcdef')
    })

    it('knows after a restart what was committed, and takes the rest again', async () => {
      await append(aChunk(0, 'kept\n'))
      await streams.append([aChunk(5, 'not committed\n')])
      await restart()
      expect(await streams.sizes(fence)).toEqual({ stdout: 5, stderr: 0 })
      await expect(streams.append([aChunk(19, 'later\n')])).rejects.toThrow(StreamGap)
      await append(aChunk(0, 'kept\nagain\n'))
      expect((await readAll(streams, fence)).stdout).toBe('kept\nagain\n')
    })

    it('takes appends in the order of their calls, also while the attempt is being loaded', async () => {
      const calls = Array.from({ length: 50 }, (_, i) => append(aChunk(i * 2, `${i % 10}\n`)))
      await Promise.all(calls)
      expect((await readAll(streams, fence)).stdout).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n'.repeat(5))
    })

    it('lets no append overtake one that still waits for another attempt to be loaded', async () => {
      await append(aChunk(0, 'a'))
      await Promise.all([append(aChunk(0, 'new', { fence: aFence(2) }), aChunk(1, 'b')), append(aChunk(2, 'c'))])
      expect((await readAll(streams, fence)).stdout).toBe('abc')
    })

    it('pages by bytes and by stream, from any offset', async () => {
      await append(aChunk(0, 'abcdefgh'), aChunk(0, '12345', { stream: 'stderr' }), aChunk(8, 'ij'))
      const small = await readAll(streams, fence, { maxBytes: 3 })
      expect([small.stdout, small.stderr]).toEqual(['abcdefghij', '12345'])
      const one = await readAll(streams, fence, { stream: 'stderr', maxBytes: 2, from: { stdout: 0, stderr: 1 } })
      expect([one.stdout, one.stderr]).toEqual(['', '2345'])
      const page = await streams.read(fence, { stdout: 9, stderr: 5 }, { maxBytes: 100 })
      expect(page.end).toBe(true)
      expect(page.pieces.map(piece => piece.offset)).toEqual([9])
    })

    it.each(['loose', 'sealed'])('finds the last lines of %s output, also those that cross chunks', async kind => {
      await append(aChunk(0, 'one\ntw'))
      await append(aChunk(6, 'o\nthree'), aChunk(0, 'e1\ne2\n', { stream: 'stderr' }))
      await append(aChunk(13, '\nfo'))
      await append(aChunk(16, 'ur'))
      if (kind === 'sealed') await seal()
      const starts = await Promise.all([0, 1, 2, 3, 4, 5].map(lines => streams.seekTail(fence, lines)))
      expect(starts.map(start => start.stdout)).toEqual([18, 14, 8, 4, 0, 0])
      expect(starts.map(start => start.stderr)).toEqual([6, 3, 0, 0, 0, 0])
      expect(await streams.seekTail(fence, 2, 'stderr')).toEqual({ stdout: 18, stderr: 0 })
      expect(await streams.seekTail(aFence(9), 3)).toEqual(START)
    })

    it.each(['loose', 'sealed'])('finds the first piece of %s output at or after a time', async kind => {
      await append(aChunk(0, 'a\n', { at: 1_000 }), aChunk(2, 'b\n', { at: 2_000 }))
      await append(aChunk(4, 'c\n', { at: 3_000 }), aChunk(0, 'e\n', { at: 2_500, stream: 'stderr' }))
      if (kind === 'sealed') await seal()
      const offsets = await Promise.all([0, 1_001, 2_000, 2_501, 3_001].map(at => streams.seekTime(fence, at)))
      expect(offsets.map(offset => offset.stdout)).toEqual([0, 2, 2, 4, 6])
      expect(offsets.map(offset => offset.stderr)).toEqual([0, 0, 0, 2, 2])
    })

    it('shows new bytes live before they are synced, and known ones never', async () => {
      await append(aChunk(0, 'before'))
      let synced = false
      const seen: string[] = []
      const stop = streams.watch(fence, piece => {
        seen.push(piece === 'lagged' ? piece : `${piece.offset} ${Buffer.from(piece.bytes)} synced ${synced}`)
      })
      const rows = await streams
        .append([aChunk(0, 'before+live'), aChunk(0, 'x', { fence: aFence(2) })])
        .finally(() => {
          synced = true
        })
      house.table.commit(rows)
      streams.committed(rows)
      expect(seen).toEqual(['6 +live synced false'])
      stop()
      await append(aChunk(11, 'unseen'))
      expect(seen).toHaveLength(1)
    })

    it('reads whatever was shown live, synced and committed or not', async () => {
      const texts: string[] = []
      const stop = streams.watch(fence, async () => {
        const { stdout, stderr } = await readAll(streams, fence)
        texts.push(stdout, stderr)
      })
      await streams.append([aChunk(0, 'abc'), aChunk(0, 'x', { stream: 'stderr' })])
      await expect.poll(() => texts).toEqual(['abc', 'x', 'abc', 'x'])
      stop()
    })

    it('tells a slow watcher once that it lagged, and then goes on', async () => {
      const seen: (OutputPiece | 'lagged')[] = []
      let release = () => {}
      const busy = new Promise<void>(resolve => {
        release = resolve
      })
      const stop = streams.watch(fence, piece => {
        seen.push(piece)
        return seen.length === 1 ? busy : undefined
      })
      const block = 'x'.repeat(300_000)
      for (let i = 0; i < 6; i++) await append(aChunk(i * block.length, block))
      expect(seen.length).toBe(1)
      release()
      await append(aChunk(6 * block.length, 'back'))
      await append(aChunk(6 * block.length + 4, 'again'))
      expect(seen.map(item => (item === 'lagged' ? item : item.offset))).toEqual([0, 'lagged', 1_800_004])
      expect((await readAll(streams, fence)).stdout).toHaveLength(1_800_009)
      stop()
    })

    it('takes late bytes of an ended attempt, before and after it was sealed', async () => {
      await append(aChunk(0, 'early\n'))
      await seal()
      expect(await append(aChunk(0, 'early\n'))).toBe(0)
      await append(aChunk(6, 'late\n'), aChunk(0, 'err\n', { stream: 'stderr' }))
      expect((await readAll(streams, fence)).stdout).toBe('early\nlate\n')
      await seal()
      const all = await readAll(streams, fence)
      expect([all.stdout, all.stderr]).toEqual(['early\nlate\n', 'err\n'])
      expect(await streams.seekTail(fence, 1)).toEqual({ stdout: 6, stderr: 0 })
    })

    it('refuses to append after it was closed', async () => {
      await append(aChunk(0, 'a'))
      await streams.close()
      await expect(streams.append([aChunk(1, 'b')])).rejects.toThrow('closed')
    })
  })
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameSplitter } from './frames.ts'

function framed(stream: 'stdout' | 'stderr', text: string): Buffer {
  const payload = Buffer.from(text)
  const header = Buffer.alloc(8)
  header[0] = stream === 'stderr' ? 2 : 1
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

test('the streams come apart the same however the bytes are cut', () => {
  const frame = fc.record({ stream: fc.constantFrom('stdout' as const, 'stderr' as const), text: fc.string() })
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.nat(300)), (frames, cuts) => {
      const bytes = Buffer.concat(frames.map(({ stream, text }) => framed(stream, text)))
      const splitter = new FrameSplitter()
      const found = { stdout: '', stderr: '' }
      const places = [...cuts.filter(cut => cut < bytes.length).sort((a, b) => a - b), bytes.length]
      let from = 0
      for (const to of places) {
        for (const piece of splitter.push(bytes.subarray(from, to)))
          found[piece.stream] += Buffer.from(piece.bytes).toString('latin1')
        from = to
      }
      for (const stream of ['stdout', 'stderr'] as const)
        expect(Buffer.from(found[stream], 'latin1').toString()).toBe(
          Buffer.concat(frames.filter(one => one.stream === stream).map(one => Buffer.from(one.text))).toString(),
        )
    }),
  )
})

test('what is there of a frame is given on at once', () => {
  const splitter = new FrameSplitter()
  expect(splitter.push(framed('stderr', 'hello').subarray(0, 10))).toEqual([
    { stream: 'stderr', bytes: Buffer.from('he') },
  ])
})

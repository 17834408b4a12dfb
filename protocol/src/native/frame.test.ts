import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeFrame, encodeFrame } from './frame.ts'

it('carries a message and its bytes unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.uint8Array({ maxLength: 50 })), (message, parts) => {
      const { message: back, payload } = decodeFrame(encodeFrame(JSON.stringify(message), parts))
      expect(JSON.stringify(back)).toBe(JSON.stringify(message))
      expect([...payload]).toEqual(parts.flatMap(part => [...part]))
    }),
  )
})

it('refuses garbage with an error, never with a wrong message', () => {
  expect(() => decodeFrame(new Uint8Array([0, 0]))).toThrow(/at least 4 bytes, this one 2/)
  expect(() => decodeFrame(new Uint8Array([0, 0, 1, 0, 123]))).toThrow(/256 bytes, but only 1 follow/)
  expect(() => decodeFrame(new Uint8Array([0, 0, 0, 1, 0xff]))).toThrow()
})

import { expect, it } from 'vitest'
import { aHello } from '../../engine/test-house.ts'
import { withDifficulties } from './default-difficulty.ts'

it('says of devices what the hub was told, unless their worker says something itself', () => {
  const hello = aHello('w', { gpus: 3 })
  const [first, ...rest] = hello.hardware.gpus
  if (first === undefined) throw new Error('a worker with GPUs was asked for')
  const told = { ...hello, hardware: { ...hello.hardware, gpus: [{ ...first, difficulty: 'low' as const }, ...rest] } }
  const { hardware } = withDifficulties(
    told,
    new Map([
      ['0', 'high'],
      ['1', 'high'],
    ]),
  )
  expect(hardware.gpus.map(({ difficulty }) => difficulty)).toEqual(['low', 'high', undefined])
  expect(withDifficulties(told, new Map())).toBe(told)
})

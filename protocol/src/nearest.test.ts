import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

it('finds what was meant, or nothing', () => {
  expect(nearest('comand', ['name', 'command', 'env'])).toBe('command')
  expect(nearest('GPUS', ['gpus', 'cpus'])).toBe('gpus')
  expect(nearest('zzzzzz', ['name', 'command'])).toBeNull()
})

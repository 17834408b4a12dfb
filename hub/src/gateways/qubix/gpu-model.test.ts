import { expect, it } from 'vitest'
import { confirmsPlaceholder, gpuModelOf, isPlaceholderCpu, isPlaceholderGpu } from './gpu-model.ts'

it.each([
  ['NVIDIA GeForce RTX 4090', 'RTX 4090'],
  ['NVIDIA  GeForce   RTX 3070 Ti Laptop GPU', 'RTX 3070 Ti Laptop GPU'],
  ['GeForce GTX 1660 SUPER', 'GTX 1660 SUPER'],
  ['NVIDIA A100-SXM4-80GB', 'A100-SXM4-80GB'],
  ['Radeon', 'Radeon'],
])('%s is called %s', (told, name) => {
  expect(gpuModelOf(told)).toBe(name)
})

it('knows what is also said without any hardware', () => {
  expect(isPlaceholderGpu('NVIDIA GeForce MX150', 4)).toBe(true)
  expect(isPlaceholderGpu('NVIDIA GeForce MX150', 2)).toBe(false)
  expect(isPlaceholderGpu('NVIDIA GeForce MX1500', 4)).toBe(false)
  expect(isPlaceholderCpu('Intel Core i7-8550U')).toBe(true)
  expect([4042, 4096].map(confirmsPlaceholder)).toEqual([true, true])
  expect([2048, 24_564].map(confirmsPlaceholder)).toEqual([false, false])
})

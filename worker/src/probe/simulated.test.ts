import { expect, test } from 'vitest'
import { simulatedGpus } from './simulated.ts'

test('2x24GB gives two GPUs that both say they are simulated', () => {
  const common = { name: 'Simulated GPU 24 GB', memoryMb: 24_576, driver: null, simulated: true }
  expect(simulatedGpus('2')).toEqual(simulatedGpus('2x24GB'))
  expect(simulatedGpus('2x24GB')).toEqual([
    { index: 0, uuid: 'SIM-0', ...common },
    { index: 1, uuid: 'SIM-1', ...common },
  ])
})

test.each([
  '',
  '0',
  '100',
  '24GB',
  '0x24GB',
  '2x0GB',
  '2x24',
  '2x24MB',
  'axbGB',
  '-1x24GB',
  '100x24GB',
  '2x24GB,1x8GB',
])('%j is refused with the expected form', text => {
  expect(() => simulatedGpus(text)).toThrow(
    `simulated GPUs have the form <count> or <count>x<memory>GB such as 2 or 2x24GB, got "${text}"`,
  )
})

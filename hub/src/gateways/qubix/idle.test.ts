import { expect, it } from 'vitest'
import { type Idle, idleMeans } from './idle.ts'

const LEASED = { state: 'leased', cancelBy: null } as const
const RUNNING = { state: 'running', cancelBy: null } as const
const plain = { variant: 'enhanced', isHeld: false, hasSecond: false } as const

it.each<[string, Parameters<typeof idleMeans>, Idle]>([
  ['has nothing', [null, plain], 'ask'],
  ['has nothing, under the id of another', [null, { ...plain, hasSecond: true }], 'ask'],
  ['did not begin', [LEASED, plain], 'offer'],
  ['had begun', [RUNNING, plain], 'interrupted'],
  ['had begun, and asks while it works', [RUNNING, { ...plain, variant: 'capable' }], 'offer'],
  ['could not report an end', [RUNNING, { ...plain, isHeld: true }], 'wait'],
  ['shares its id with another machine', [LEASED, { ...plain, hasSecond: true }], 'wait'],
  ['has what someone canceled', [{ ...RUNNING, cancelBy: 'ann' }, plain], 'wait'],
])('a worker with empty hands that %s', (_, told, means) => {
  expect(idleMeans(...told)).toBe(means)
})

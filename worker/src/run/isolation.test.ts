import { type Abilities, type JobSpecInput, parseJobSpec } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { chooseIsolation } from './isolation.ts'

const all: Abilities = {
  executors: ['process'],
  sandbox: true,
  unsandboxed: true,
  internet: true,
  hostNetwork: true,
  note: null,
}

function choose(spec: JobSpecInput, abilities: Partial<Abilities> = {}) {
  const parsed = parseJobSpec({ command: 'x', ...spec })
  if (!parsed.ok) throw new Error('bad spec')
  return chooseIsolation(parsed.spec, { ...all, ...abilities })
}

it('takes the strongest that serves', () => {
  expect(choose({})).toEqual({ isolation: 'sandbox', network: 'none' })
  expect(choose({ network: 'internet' })).toEqual({ isolation: 'sandbox', network: 'internet' })
  expect(choose({}, { sandbox: false })).toEqual({ isolation: 'none', network: 'host' })
  expect(choose({ network: 'internet' }, { internet: false })).toEqual({ isolation: 'none', network: 'host' })
})

it('runs an image in a container, never another way', () => {
  const engine = { engine: 'docker' as const, version: '1', gpus: false, allowedImages: [], allowedMounts: [] }
  const containers = { ...engine, pulls: true, images: [] }
  expect(choose({ image: 'a' }, { containers })).toEqual({ isolation: 'container', network: 'none' })
  expect(choose({ image: 'a', isolation: 'container', network: 'internet' }, { containers })).toEqual({
    isolation: 'container',
    network: 'internet',
  })
  expect(choose({ image: 'a' })).toMatch(/needs a container/)
  expect(choose({}, { containers })).toEqual({ isolation: 'sandbox', network: 'none' })
})

it('never gives less than was asked', () => {
  expect(choose({ isolation: 'sandbox' }, { sandbox: false })).toMatch(/wants isolation sandbox/)
  expect(choose({ network: 'none' }, { sandbox: false })).toMatch(/network none/)
  expect(choose({ isolation: 'none' }, { unsandboxed: false })).toMatch(/wants isolation none/)
  expect(choose({ isolation: 'sandbox', network: 'host' }, { hostNetwork: false })).toMatch(/network host/)
})

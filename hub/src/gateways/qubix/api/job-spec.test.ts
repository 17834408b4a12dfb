import { Refused } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import type { WorkerState } from '../../../engine/state.ts'
import { chooseProvider } from './choose-provider.ts'
import { ANYWHERE, specOf } from './job-spec.ts'
import type { Provider } from './provider-views.ts'

const spec = (wish: Partial<Parameters<typeof specOf>[0]>, choice = ANYWHERE) =>
  specOf({ modelType: 'custom_script', ...wish }, choice, {})

describe('a wish becomes a job', () => {
  it.each([
    ['mnist_training', { epochs: 3 }, { type: 'mnist_training', input: { epochs: 3 }, network: 'internet' }],
    ['mnist', { dataset: 'synthetic-digits' }, { type: 'mnist_training', network: null }],
    ['stable_diffusion', { prompt: 'a cat' }, { type: 'stable_diffusion', input: { prompt: 'a cat' } }],
    ['training', { dataset: 'https://x.example/d.zip' }, { type: 'training', network: 'internet' }],
    ['inference', { model: 'm', input: 'i', network: false }, { type: 'inference', network: 'none' }],
    ['fine-tuning', { baseModel: 'b', dataset: 'd' }, { type: 'fine-tuning' }],
    ['generic', { iterations: 9 }, { type: 'compute', input: { iterations: 9 } }],
    ['anything', { script: 'x' }, { type: 'custom_script', input: { script: 'x' } }],
    ['custom', { scriptUrl: 'https://x.example/s.py' }, { input: { scriptUrl: 'https://x.example/s.py' } }],
  ] as const)('%s with %j', (modelType, inputData, expected) => {
    expect(spec({ modelType, inputData: { ...inputData } })).toMatchObject(expected)
  })

  it('with the script that is given, not the one that would be fetched', () => {
    const { input } = spec({ inputData: { script: 'x', scriptUrl: 'https://x.example/s.py', args: ['a'] } })
    expect(input).toEqual({ script: 'x', args: ['a'] })
  })

  it('with its limits and variables, which the program does not see as input', () => {
    const inputData = { script: 'x', timeoutSeconds: 5, env: { A: '1' }, network: true, outputs: ['out/**'] }
    const advancedConfig = {
      environmentVars: { B: '2' },
      maxDuration: 1,
      dockerImage: undefined,
      entryPoint: undefined,
      outputDestination: undefined,
      gpus: undefined,
      allowUnverified: true,
    }
    const made = spec({ inputData, advancedConfig })
    expect(made).toMatchObject({
      timeoutMs: 5000,
      env: { A: '1', B: '2' },
      outputs: ['out/**'],
      network: 'internet',
      placement: { unverified: true },
      input: { script: 'x' },
    })
    expect(() => spec({ inputData: { script: 'x', outputs: '/etc' } })).toThrow(/outputs/)
    expect(spec({ inputData: { script: 'x' }, advancedConfig }).timeoutMs).toBe(3600_000)
    const image = { ...advancedConfig, dockerImage: 'python:3.12', entryPoint: 'python -V' }
    expect(spec({ inputData: {}, modelType: 'training', advancedConfig: image })).toMatchObject({
      type: 'command',
      command: 'python -V',
      container: { image: 'python:3.12' },
    })
  })
})

describe('the choice of a provider', () => {
  const provider = (id: string, over: Partial<Provider> = {}): Provider => ({
    id,
    name: id,
    address: '',
    workerId: null,
    location: null,
    computePower: 0,
    pricePerHour: 1,
    gpus: [],
    vramGb: 0,
    ramGb: 8,
    isOnline: true,
    isActive: true,
    isFree: true,
    worker: { id } as WorkerState,
    ...over,
  })
  const all = [provider('a', { pricePerHour: 3, vramGb: 24 }), provider('b'), provider('c', { workerId: 'w' })]
  const wish = (over: object) => ({
    modelType: 'mnist_training',
    inputData: {},
    jobAnalysis: undefined,
    advancedConfig: undefined,
    providerId: undefined,
    maxPrice: undefined,
    ...over,
  })
  const anyone = () => () => null

  it('is the one that was asked for, by any of its names', () => {
    expect(chooseProvider(wish({ providerId: 'a' }), all, anyone)).toMatchObject({ worker: 'a', gpus: 1, exclude: [] })
    expect(chooseProvider(wish({ providerId: 'w' }), all, anyone)).toMatchObject({ worker: 'c', gpus: 0 })
    const twins = [provider('x', { workerId: 'w' }), provider('y', { workerId: 'w' })]
    expect(() => chooseProvider(wish({ providerId: 'w' }), twins, anyone)).toThrow(Refused)
  })

  it('falls to the others, with the reason, when that one cannot', () => {
    const chosen = chooseProvider(wish({ providerId: 'b', maxPrice: 2 }), all, () => () => 'has no Python')
    expect(chosen).toMatchObject({ worker: null, exclude: ['a'] })
    expect(chosen.notes.join()).toMatch(/provider b cannot run it \(has no Python\)/)
  })

  it('leaves out who asks for more than is paid, and counts no GPU of theirs', () => {
    expect(chooseProvider(wish({ maxPrice: 2 }), all, anyone)).toMatchObject({ worker: null, exclude: ['a'], gpus: 0 })
    expect(chooseProvider(wish({}), all, anyone)).toMatchObject({ exclude: [], gpus: 1 })
    const many = Array.from({ length: 33 }, (_, i) => provider(String(i), { pricePerHour: 9 }))
    expect(() => chooseProvider(wish({ maxPrice: 2 }), many, anyone)).toThrow(/33 providers/)
  })

  it.each([
    [{ modelType: 'stable_diffusion' }, 1],
    [{ modelType: 'generic' }, 0],
    [{ modelType: 'x', inputData: { script: 'y' } }, 0],
    [{ modelType: 'x', inputData: { script: 'y' }, jobAnalysis: { estimatedVRAM: 8 } }, 1],
    [{ jobAnalysis: { estimatedVRAM: 80 } }, 0],
    [{ advancedConfig: { gpus: 0 } }, 0],
    [{ advancedConfig: { gpus: 2 } }, 2],
  ])('gives %j %d GPUs', (over, gpus) => expect(chooseProvider(wish(over), all, anyone).gpus).toBe(gpus))

  it('says when work that wants a GPU gets none', () => {
    const { notes } = chooseProvider(wish({ jobAnalysis: { estimatedVRAM: 80 } }), all, anyone)
    expect(notes.join()).toMatch(/runs on a CPU.*80 GB/)
  })
})

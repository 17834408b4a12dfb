import { describe, expect, it } from 'vitest'
import { gpuModelOf } from '../../gpu-model.ts'
import { compatibilityOf } from './compatibility.ts'
import { hasCpuPath, kindOf, typeOf } from './job-kind.ts'
import { needsOf } from './needs.ts'
import { estimatedCost, multiplierOf, priceFor } from './price.ts'
import { costBenefit, type Ranked, ranked, recommendations } from './ranking.ts'
import { estimateRun, scaleOf } from './run-seconds.ts'
import { formatSeconds, timeRemaining } from './time-remaining.ts'

describe('what a client means by a type', () => {
  it.each([
    ['mnist_training', 'mnist_training', 'mnist_training'],
    ['My-MNIST-run', 'mnist_training', 'mnist_training'],
    ['Stable Diffusion XL', 'stable_diffusion', 'stable_diffusion'],
    ['image-generation', 'stable_diffusion', 'stable_diffusion'],
    ['llm-inference', 'inference', 'inference'],
    ['training', 'training', 'other'],
    ['Fine-Tuning', 'fine-tuning', 'other'],
    ['custom', 'custom_script', 'custom_script'],
    ['generic', 'compute', 'other'],
    ['rendering', null, 'rendering'],
    ['constructor', null, 'other'],
    ['fold proteins', null, 'other'],
  ])('%s', (word, type, kind) => {
    expect([typeOf(word), kindOf(word)]).toEqual([type, kind])
  })

  it('knows which work needs a GPU', () => {
    expect([hasCpuPath('mnist_training'), hasCpuPath('stable_diffusion'), hasCpuPath('rendering')]).toEqual([
      true,
      false,
      false,
    ])
  })
})

it.each([
  ['NVIDIA GeForce RTX 4090', 'RTX 4090'],
  ['NVIDIA  GeForce RTX 4070 Ti SUPER', 'RTX 4070 Ti SUPER'],
  ['GeForce RTX 3080 Laptop GPU', 'RTX 3080 Laptop GPU'],
  ['NVIDIA A100-SXM4-80GB', 'A100-SXM4-80GB'],
])('%s is called %s', (long, short) => expect(gpuModelOf(long)).toBe(short))

describe('needs', () => {
  it.each([
    ['mnist_training', 'pytorch', [4, 5, 8, 2]],
    ['mnist_training', 'tensorflow', [5, 6, 10, 2]],
    ['stable_diffusion', 'jax', [14, 17, 18, 10]],
    ['inference', 'none', [6, 8, 8, 5]],
    ['rendering', 'none', [8, 10, 16, 20]],
    ['custom_script', 'tensorflow', [10, 12, 20, 10]],
  ] as const)('%s with %s', (kind, framework, [vramGb, tflops, ramGb, storageGb]) => {
    expect(needsOf(kind, framework)).toEqual({ vramGb, tflops, ramGb, storageGb })
  })

  it('are only raised by what is known', () => {
    expect(needsOf('mnist_training', 'none', { vramGb: 2, ramGb: 64 })).toMatchObject({ vramGb: 4, ramGb: 64 })
  })
})

describe('compatibility', () => {
  const needs = { vramGb: 10, ramGb: 10 }
  it.each([
    [15, 13, 'recommended'],
    [15, 12.9, 'compatible'],
    [14.9, 13, 'compatible'],
    [12, 11, 'compatible'],
    [11.9, 11, 'borderline'],
    [10, 10, 'borderline'],
    [9.9, 20, 'insufficient'],
    [20, 9.9, 'insufficient'],
  ])('%d GB of GPU memory and %d GB of memory for 10 and 10 are %s', (vramGb, ramGb, level) => {
    expect(compatibilityOf({ vramGb, ramGb }, needs, false).compatibility).toBe(level)
  })

  it('says what is tight or missing', () => {
    expect(compatibilityOf({ vramGb: 10, ramGb: 10 }, needs, false).warnings).toHaveLength(1)
    expect(compatibilityOf({ vramGb: 8, ramGb: 4 }, needs, false).warnings).toEqual([
      'needs 10 GB of GPU memory, the provider has 8 GB',
      'needs 10 GB of memory, the provider has 4 GB',
    ])
  })

  it('ignores the memory of the GPU for work that has a CPU path, and says so', () => {
    const { compatibility, warnings } = compatibilityOf({ vramGb: 0, ramGb: 13 }, needs, true)
    expect(compatibility).toBe('recommended')
    expect(warnings.join()).toMatch(/runs on a CPU too.*has 0 GB, wants 10 GB/)
  })
})

describe('time', () => {
  it.each([
    ['mnist_training', 'NVIDIA GeForce RTX 4090', {}, 120, 'high'],
    ['mnist_training', 'RTX 3060', { epochs: 7 }, 490, 'high'],
    ['mnist_training', 'RTX 4090', { epochs: 10 }, 240, 'medium'],
    ['mnist_training', 'RTX 4090', { dataset_size: 60_000 }, 720, 'medium'],
    ['stable_diffusion', 'RTX 4090', { width: 724, height: 724 }, 600, 'high'],
    ['stable_diffusion', 'RTX 4090', { resolution: 1024 }, 1200, 'medium'],
    ['stable_diffusion', 'RTX 4090', { num_images: 4, steps: 25 }, 600, 'high'],
    ['inference', 'RTX 3070', {}, 150, 'high'],
    ['custom_script', 'RTX 3080', {}, 1100, 'high'],
    ['rendering', 'RTX 4090', {}, 900, 'low'],
    ['inference', 'RTX 5090', {}, 120, 'low'],
    ['mnist_training', null, {}, 300, 'low'],
    ['other', 'RTX 4090', {}, 1200, 'low'],
    ['mnist_training', 'constructor', { epochs: -1 }, 300, 'low'],
  ] as const)('%s on %s with %o takes %d s, %s confidence', (kind, gpu, input, seconds, confidence) => {
    expect(estimateRun(kind, gpu, scaleOf(kind, input))).toMatchObject({ seconds, confidence })
  })

  it('is a range where nothing is known of the GPU', () => {
    expect(estimateRun('inference', null, scaleOf('inference', {})).range).toEqual({ min: 84, max: 156 })
  })

  it('comes from own runs once there are five, and not before', () => {
    const scale = scaleOf('mnist_training', { epochs: 10 })
    const runs = [30, 10, 20, 50, 40]
    expect(estimateRun('mnist_training', 'RTX 4090', scale, runs.slice(1)).basis).toBe('benchmark')
    expect(estimateRun('mnist_training', 'RTX 4090', scale, runs)).toMatchObject({ seconds: 60, basis: 'measured' })
    expect(estimateRun('mnist_training', null, scaleOf('mnist_training', {}), [...runs, 60]).seconds).toBe(35)
  })

  it('that remains follows from what is done', () => {
    expect([timeRemaining(30, 25), timeRemaining(30, 100), timeRemaining(30, 0), timeRemaining(30, null)]).toEqual([
      90,
      0,
      null,
      null,
    ])
  })

  it('is written for people', () => {
    expect([45, 200, 180, 7500, 7200].map(formatSeconds)).toEqual(['45s', '3m 20s', '3m', '2h 5m', '2h'])
  })
})

describe('price', () => {
  it.each([
    [3, 9, [1], 3, 'provider'],
    [null, 9, [1], 9, 'maxPrice'],
    [null, null, [1, 2], 1.5, 'mean'],
    [null, null, [], 1, 'default'],
  ] as const)('of provider %s, at most %s, of others %o is %d, by the %s', (chosen, most, others, perHour, from) => {
    expect(priceFor(chosen, most, others)).toEqual({ perHour, from })
  })

  it.each([
    ['llm-inference', 1],
    ['image-generation', 1.5],
    ['fine-tuning', 2],
    ['Training', 3],
    ['mnist_training', 1],
    ['toString', 1],
  ])('of %s is multiplied by %d', (type, multiplier) => expect(multiplierOf(type)).toBe(multiplier))

  it('is hours times price times multiplier', () => expect(estimatedCost(0.5, 4, 3)).toBe(6))
})

describe('ranking', () => {
  it.each([
    [120, 0.1, 86],
    [600, 1, 14],
    [60, 0, 100],
  ])('%d s for %d scores %d', (seconds, cost, score) => expect(costBenefit(seconds, cost)).toBe(score))

  const offer = (name: string, over: Partial<Ranked>) => ({
    name,
    compatibility: 'compatible' as const,
    estimatedDuration: 100,
    estimatedCost: 1,
    costBenefitScore: 50,
    isFree: true,
    ...over,
  })
  const offers = [
    offer('broken', { compatibility: 'insufficient', costBenefitScore: 100, estimatedCost: 0 }),
    offer('fast', { estimatedDuration: 10, costBenefitScore: 60, isFree: false }),
    offer('cheap', { estimatedCost: 0.1 }),
    offer('plain', { costBenefitScore: 40 }),
    offer('worst', { costBenefitScore: 1, estimatedCost: 9, estimatedDuration: 900 }),
  ]

  it.each([
    ['cost_benefit', ['fast', 'cheap', 'plain', 'worst', 'broken']],
    ['price_low', ['cheap', 'fast', 'plain', 'worst', 'broken']],
    ['performance', ['fast', 'cheap', 'plain', 'worst', 'broken']],
    ['availability', ['cheap', 'plain', 'worst', 'fast', 'broken']],
  ] as const)('by %s', (by, names) => expect(ranked(offers, by).map(({ name }) => name)).toEqual(names))

  it('recommends the first three that can take the job', () => {
    expect(recommendations(offers).map(({ name }) => name)).toEqual(['fast', 'cheap', 'plain'])
  })
})

import { expect, it } from 'vitest'
import { growthOfMeansPercent, growthPercent, type Look, lowest } from './trend.ts'

const looks = (count: number, value: (i: number) => number): Look[] =>
  Array.from({ length: count }, (_, i) => [i * 5000, value(i)])

it('is nothing for what stays, for a sawtooth, and for what grew only at first', () => {
  expect(growthPercent(looks(40, () => 7))).toBe(0)
  expect(Math.abs(growthPercent(looks(80, i => 100 + 10 * (i % 4))))).toBeLessThan(2)
  expect(growthPercent(looks(40, i => Math.min(i, 20)))).toBe(0)
})

it('is the growth over the second half', () => {
  expect(growthPercent(looks(41, i => 100 + i))).toBeCloseTo((100 * 20) / 130, 1)
})

it('is little where there is next to nothing', () => {
  expect(
    growthPercent(
      looks(41, i => i),
      1000,
    ),
  ).toBeCloseTo(2, 1)
})

it('of what stays is not moved by what comes and goes, and is moved by what is left over', () => {
  const wave = (left: number) => looks(48, i => 10 + left * i + (i % 3 === 1 && i > 20 ? 20 : 0))
  expect(growthPercent(lowest(wave(0), 3))).toBe(0)
  expect(growthPercent(lowest(wave(1), 3))).toBeGreaterThan(40)
})

it('is not moved by one wild value', () => {
  expect(growthPercent(looks(40, i => (i === 30 ? 900 : 100)))).toBe(0)
})

/** Ten minutes of a folder between 67 and 103 MB, a wave of some half a minute, plus what is never swept. */
const folder = (waveLooks: number, phase: number, leakedAtEndMb: number) =>
  looks(120, i => 85 + 18 * Math.sin((2 * Math.PI * (i + phase)) / waveLooks) + (leakedAtEndMb * i) / 119)

it('of means tells a leak from waves, whatever their length and wherever they begin', () => {
  for (const waveLooks of [4, 5.3, 6, 7.1, 9])
    for (let phase = 0; phase < waveLooks; phase += 0.5) {
      expect(Math.abs(growthOfMeansPercent(folder(waveLooks, phase, 0)))).toBeLessThan(0.5)
      // In half of the time 9.5 MB, which is a tenth of the 92 MB of the second quarter.
      expect(growthOfMeansPercent(folder(waveLooks, phase, 19))).toBeGreaterThan(10)
    }
})

it('of means is little where there is next to nothing, and nothing where there is nothing', () => {
  expect(
    growthOfMeansPercent(
      looks(40, i => i),
      1000,
    ),
  ).toBeCloseTo(2, 1)
  expect(growthOfMeansPercent(looks(40, () => 0))).toBe(0)
  expect(() => growthOfMeansPercent(looks(3, () => 1))).toThrow('needs four looks')
})

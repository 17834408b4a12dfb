import { describe, expect, it } from 'vitest'
import { figureOf, quantile, spreadOf } from './statistics.ts'

describe('statistics', () => {
  it('takes the middle value of an odd number and the mean of the two middle ones of an even', () => {
    expect(quantile([9, 1, 5], 0.5)).toBe(5)
    expect(quantile([1, 2, 3, 10], 0.5)).toBe(2.5)
  })

  it('lies between the two nearest values for a percentile that hits none', () => {
    expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9)
  })

  it('refuses to make up a figure of no rounds', () => {
    expect(() => figureOf([])).toThrow('a quantile needs a value, found 0')
  })

  it('tells how far the rounds lay apart as a share of their median', () => {
    expect(figureOf([100, 80, 130])).toEqual({ median: 100, min: 80, max: 130, rounds: 3 })
    expect(spreadOf(figureOf([100, 80, 130]))).toBe(0.5)
  })
})

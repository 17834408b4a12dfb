import { expect, it } from 'vitest'
import { decadesOf, panelSvg } from './panel.ts'

it('spans the powers of ten around its values', () => {
  expect(decadesOf([3, 250])).toEqual([1, 10, 100, 1000])
  expect(decadesOf([1000, 1_000_000])).toEqual([1000, 10_000, 100_000, 1_000_000])
  expect(decadesOf([10])).toEqual([10, 100])
})

it('draws a point of the largest value at the corner, and marks what was not measured like the rest', () => {
  const svg = panelSvg({
    title: 'a < b',
    xLabel: 'jobs',
    yLabel: 'ms',
    series: [
      {
        name: 'submit',
        points: [
          { x: 1, y: 1 },
          { x: 100, y: 10, isHollow: true },
        ],
      },
    ],
  })
  expect(svg).toContain('a &lt; b')
  expect(svg).toContain('cx="376.0" cy="44.0" r="3.5" fill="#fff"')
  expect(svg).toContain('points="62.0,262.0 376.0,44.0"')
})

import { Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { PlainHistogram } from './histogram.ts'

it('says the same as the histogram of the metrics library', async () => {
  const form = { name: 'x_seconds', help: 'How long x takes', buckets: [0.001, 0.5, 10] }
  const plain = new PlainHistogram(form)
  const registry = new Registry()
  const theirs = new Histogram({ ...form, registers: [registry] })
  for (const value of [0, 0.001, 0.0011, 0.5, 3, 10, 10.5, 1e6]) {
    plain.observe(value)
    theirs.observe(value)
  }
  expect(plain.text).toBe(await registry.metrics())
  expect(plain.count).toBe(8)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aJob, asJob } from '../../../client/src/test-hub.ts'
import { widthOf } from '../output/plain-text.ts'
import { standingOf, statusText } from './status-line.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')
const job = asJob(
  aJob({ state: 'active', attempts: 1, startedAt: '2026-01-01T00:00:00.000Z', worker: { id: 'w', name: 'box' } }),
)

function standing(percent: number, operation: string, afterMs: number) {
  const first = standingOf(null, START, { job, percent: 0 })
  const last = standingOf(first, START + afterMs, { percent, operation })
  if (last === null) throw new Error('a job that was told of has a standing')
  return last
}

test('a running job shows how far it is, what it does, for how long and how fast', () => {
  expect(statusText(standing(25, 'epoch 2', 50_000), START + 50_000, 100)).toBe(
    '█████░░░░░░░░░░░░░░░ 25% running on box, epoch 2, 50 s, 2 m 30 s left, 30.0 %/min',
  )
})

test('a narrow terminal loses what matters least, the percent last', () => {
  const text = (room: number) => statusText(standing(25, 'epoch 2', 50_000), START + 50_000, room)
  expect(text(60)).toMatch(/^█+░+ 25% running on box, epoch 2, 50 s/)
  expect(text(60)).not.toContain('%/min')
  expect(text(6)).toBe('25%')
  expect(text(30)).toContain('epoch 2')
  expect(text(18)).toContain('50 s')
})

test('whatever a program calls its operation, the line fits the terminal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 4, max: 120 }), (operation, room) => {
      const text = statusText(standing(50, operation, 1000), START + 1000, room)
      expect(text.includes('\n')).toBe(false)
      if (room >= 20) expect(text).toContain('50%')
      expect(widthOf(text)).toBeLessThanOrEqual(Math.max(room, 4))
    }),
  )
})

test('a new attempt starts from nothing', () => {
  const next = standingOf(standing(80, 'almost', 10_000), START + 20_000, { job: { ...job, attempts: 2 } })
  expect(next).toMatchObject({ percent: null, operation: '', first: null })
})

import { expect, it } from 'vitest'
import { Random } from './random.ts'
import { Timeline } from './timeline.ts'
import { Wire } from './wire.ts'

it('runs everything in order of time, and equal times in the order they were asked for', () => {
  const timeline = new Timeline()
  const random = new Random(5)
  const asked = Array.from({ length: 500 }, (_, order) => ({ at: random.int(50), order }))
  const ran: typeof asked = []
  for (const each of asked) timeline.at(each.at, () => ran.push(each))
  while (timeline.step());
  expect(ran).toEqual([...asked].sort((a, b) => a.at - b.at || a.order - b.order))
})

it('draws the same numbers from the same seed, evenly', () => {
  const draw = (seed: number) => {
    const random = new Random(seed)
    return Array.from({ length: 2000 }, () => random.next())
  }
  expect(draw(3)).toEqual(draw(3))
  expect(draw(3)).not.toEqual(draw(4))
  const mean = draw(3).reduce((sum, x) => sum + x, 0) / 2000
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05)
})

function aWire() {
  const timeline = new Timeline()
  const heard: string[] = []
  const ear = (side: string) => ({
    message: (message: string) => heard.push(`${side} ${message}`),
    closed: () => heard.push(`${side} closed`),
  })
  const random = new Random(1)
  const wire = new Wire<string, string>(
    { timeline, random, latencyMs: () => random.pauseMs(5), cutUntil: () => 0 },
    { hub: ear('hub'), worker: ear('worker') },
  )
  return {
    wire,
    heard,
    run: () => {
      while (timeline.step());
      return heard
    },
  }
}

it('keeps the order of one direction, however long each message takes', () => {
  const { wire, run } = aWire()
  for (let n = 0; n < 20; n += 1) wire.toHub(`${n}`)
  expect(run()).toEqual(Array.from({ length: 20 }, (_, n) => `hub ${n}`))
})

it('lets bytes arrive before the end of a closed connection, or loses them', () => {
  const kept = aWire()
  kept.wire.toHub('last words')
  kept.wire.hangUp('worker', { suffix: 'arrives', noticeMs: 0 })
  kept.wire.toHub('too late')
  expect(kept.run()).toEqual(['worker closed', 'hub last words', 'hub closed'])
  const lost = aWire()
  lost.wire.toHub('last words')
  lost.wire.hangUp('worker', { suffix: 'lost', noticeMs: 0 })
  expect(lost.run()).toEqual(['worker closed', 'hub closed'])
})

import { describe, expect, it } from 'vitest'
import { race } from './rounds.ts'

function aRace(names: readonly string[]) {
  const order: string[] = []
  const contestants = names.map(name => ({
    name,
    run: async () => {
      order.push(name)
      return order.length
    },
  }))
  return { order, contestants }
}

describe('a race', () => {
  it('lets all take turns and begins each round with another', async () => {
    const { order, contestants } = aRace(['a', 'b', 'c'])
    await race(contestants, { rounds: 3, budgetMs: 60_000, warmUpMs: 0 })
    expect(order.join('')).toBe('abcbcacab')
  })

  it('forgets the figures of the warm-up', async () => {
    const { contestants } = aRace(['a', 'b'])
    const figures = await race(contestants, { rounds: 1, budgetMs: 60_000 })
    expect(figures).toEqual(
      new Map([
        ['a', [3]],
        ['b', [4]],
      ]),
    )
  })

  it('begins no round after its time is up, but always five', async () => {
    const { order, contestants } = aRace(['a'])
    await race(contestants, { rounds: 100, budgetMs: -1, warmUpMs: 0 })
    expect(order).toHaveLength(5)
  })
})

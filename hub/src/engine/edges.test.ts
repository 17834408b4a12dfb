import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Edges } from './edges.ts'

it('behaves like a plain list of edges under any adds and removes', () => {
  const step = fc.record({ job: fc.integer({ min: 1, max: 40 }), dependency: fc.integer({ min: 1, max: 12 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1500 }), steps => {
      const edges = new Edges()
      const model = new Map<string, { job: number; dependency: number }>()
      for (const { job, dependency } of steps) {
        const key = `${job} ${dependency}`
        if (model.delete(key)) edges.remove(job, dependency)
        else {
          model.set(key, { job, dependency })
          edges.add({ job, dependency, id: `id-${dependency}`, kind: job % 2 === 0 ? 'end' : 'failure' })
        }
      }
      expect(edges.size).toBe(model.size)
      const all = [...model.values()]
      for (let n = 1; n <= 40; n += 1) {
        const needs = all.filter(({ job }) => job === n).map(({ dependency }) => dependency)
        const found = [...edges.of(n)]
        expect(found.map(({ dependency }) => dependency).sort()).toEqual(needs.sort())
        expect(found.every(({ id, kind, dependency }) => id === `id-${dependency}` && kind === kindOf(n))).toBe(true)
        expect(edges.has(n)).toBe(needs.length > 0)
        const first = all.find(({ dependency }) => dependency === n)
        expect(edges.firstTo(n)?.job).toBe(first?.job)
        expect(edges.isAwaited(n)).toBe(first !== undefined)
      }
      expect([...edges.jobs()].sort()).toEqual([...new Set(all.map(({ job }) => job))].sort())
    }),
    { numRuns: 60 },
  )
})

function kindOf(job: number): string {
  return job % 2 === 0 ? 'end' : 'failure'
}

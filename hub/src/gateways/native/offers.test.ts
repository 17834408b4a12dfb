import type { ChangeOf } from '@stoker/protocol'
import { expect, it } from 'vitest'
import type { Batch } from '../../engine/core.ts'
import { aJob } from '../../engine/test-house.ts'
import type { Queries } from '../../store/port.ts'
import { offersOf } from './offers.ts'

const placed = (job: number, attempt = 1): ChangeOf<'placed'> => ({
  c: 'placed',
  job,
  epoch: 1,
  attempt,
  worker: 'w',
  gpus: [],
  at: 0,
})

const aBatch = (changes: Batch['changes'], submissions: Batch['submissions']): Batch => ({
  n: 1,
  at: 0,
  changes,
  submissions,
  commit: { journal: null, rows: [] },
})

const NO_QUERIES = {} as Queries
const noSession = () => undefined

it('offers new jobs without asking the store, at once', () => {
  const jobs = [aJob({ type: 'noop' }, 'a'), aJob({ type: 'noop' }, 'b')] as const
  const batch = aBatch([placed(1), placed(2)], new Map([[1, jobs[0]] as const, [2, jobs[1]] as const]))
  const offers = offersOf(batch, NO_QUERIES, noSession)
  if (offers instanceof Promise) throw new Error('nothing should be waited for')
  expect(offers.get('w')?.map(({ fence, id }) => [fence.job, id])).toEqual([
    [1, 'a'],
    [2, 'b'],
  ])
  expect(offers.get('w')?.[0]?.spec).toBe(offers.get('w')?.[1]?.spec)
})

it('reads the jobs of earlier batches, and keeps the order of the placements', async () => {
  const fresh = aJob({ type: 'noop' }, 'new')
  const asked: (readonly number[])[] = []
  const queries = {
    offers: async (seqs: readonly number[]) => {
      asked.push(seqs)
      return seqs.map(seq => ({ seq, id: 'old', spec: aJob({ type: 'echo' }).specText }))
    },
  } as unknown as Queries
  const offers = await offersOf(aBatch([placed(1), placed(2)], new Map([[2, fresh] as const])), queries, noSession)
  expect(offers.get('w')?.map(({ id, spec }) => [id, spec.type])).toEqual([
    ['old', 'echo'],
    ['new', 'noop'],
  ])
  expect(asked).toEqual([[1]])
})

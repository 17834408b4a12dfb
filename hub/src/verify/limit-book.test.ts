import { type Change, NO_LIMITS } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { LimitBook } from './limit-book.ts'

const BUCKET = {
  c: 'bucket',
  id: 1,
  owner: 'ann',
  priority: 0,
  groupId: 'g',
  shape: {
    ...{ executor: 'process', gpus: 1, gpuMemoryMb: 0, gpuModel: null, cpusMilli: 0, memoryMb: 0, worker: null },
    ...{ tags: [], isolation: 'auto', network: null },
  },
  terms: { timeoutMs: null, lostAfterMs: null, retryMax: 0, retryOn: [], retryInitialMs: 1, retryMaxMs: 1 },
} as unknown as Change
const limits = (over: object): Change => ({ c: 'ownerLimits', owner: 'ann', limits: { ...NO_LIMITS, ...over }, at: 0 })
const group = (maxParallel: number | null): Change => ({
  ...{ c: 'group', id: 'g', owner: 'ann', name: '', firstSeq: 1, size: 3, maxParallel, retryOf: null, at: 0 },
})
const submitted: Change = {
  ...{ c: 'submitted', owner: 'ann', at: 0, key: null },
  jobs: [1, 2, 3].map(seq => ({ seq, id: `${seq}`, bucket: 1, name: '', type: 'noop' })),
}
const placed = (job: number): Change => ({
  ...{ c: 'placed', job, epoch: 1, attempt: 1, worker: 'w', gpus: [`gpu-${job}`], at: 0 },
})
const lost: Change = { c: 'lost', job: 1, epoch: 1, attempt: 1, at: 0, lost: 1, reason: '' }
const released: Change = { c: 'released', job: 1, epoch: 1, attempt: 1, worker: 'w', at: 0 }

function complaints(...changes: readonly Change[]): string[] {
  const found: string[] = []
  const book = new LimitBook((_, text) => found.push(text))
  for (const change of changes) book.take(change)
  return found
}

it.each<[string, readonly Change[], readonly string[]]>([
  ['nothing without limits', [group(null), BUCKET, submitted, placed(1), placed(2)], []],
  ['a queue too long', [limits({ queued: 2 }), BUCKET, submitted], ['ann then has 3 jobs queued, the limit is 2']],
  [
    'too many at once',
    [limits({ running: 1 }), BUCKET, submitted, placed(1), placed(2)],
    ['ann then has 2 jobs running, the limit is 1'],
  ],
  ['too many GPUs', [limits({ gpus: 0 }), BUCKET, submitted, placed(1)], ['ann then uses 1 GPUs, the limit is 0']],
  [
    'too many of a group',
    [group(1), BUCKET, submitted, placed(1), placed(2)],
    ['group g then has 2 jobs at once, maxParallel is 1'],
  ],
  [
    'a lost attempt that still counts',
    [limits({ running: 1 }), BUCKET, submitted, placed(1), lost, placed(2)],
    ['ann then has 2 jobs running, the limit is 1'],
  ],
  ['none after its end', [limits({ running: 1 }), BUCKET, submitted, placed(1), lost, released, placed(2)], []],
])('finds %s', (_, changes, texts) => expect(complaints(...changes)).toEqual(texts))

import type { ArtifactRow, BlobRow, RowWrite } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../port.ts'
import type { OpenStore, StoreUnderTest } from './harness.ts'
import { aChunk, aJob, insertJob, rowsOnly } from './sample-rows.ts'

const aBlob = (sha256: string, over: Partial<BlobRow> = {}): BlobRow => ({
  owner: 'ada',
  sha256,
  size: 10,
  at: 1,
  usedAt: 1,
  ...over,
})
const anArtifact = (job: number, path: string, over: Partial<ArtifactRow> = {}): ArtifactRow => ({
  job,
  attempt: 1,
  path,
  owner: 'ada',
  sha256: 'a',
  size: 10,
  executable: 0,
  ...over,
})
const blob = (row: BlobRow): RowWrite => ({ op: 'insert', table: 'blob', row })
const artifact = (row: ArtifactRow): RowWrite => ({ op: 'insert', table: 'artifact', row })
const input = (job: number, sha256: string, owner = 'ada'): RowWrite => ({
  op: 'insert',
  table: 'input',
  row: { job, sha256, owner },
})
const endedJob = (seq: number, endedAt: number) =>
  insertJob(aJob(seq, { state: 'succeeded', submittedAt: seq * 100, endedAt }))

/** What the reads about content, artifacts and retention answer. */
export function contentContract(open: OpenStore): void {
  let tested: StoreUnderTest
  let store: Store
  beforeEach(async () => {
    tested = await open()
    store = tested.store
  })
  afterEach(() => tested.end())

  it('knows content by owner and sums it up', async () => {
    await store.append(rowsOnly(blob(aBlob('a')), blob(aBlob('b', { size: 5 })), blob(aBlob('a', { owner: 'bob' }))))
    const { queries } = await tested.reopen()
    expect(await queries.blobs('ada', ['a', 'c', 'b'])).toEqual([aBlob('a'), aBlob('b', { size: 5 })])
    expect(await queries.blobs('eve', ['a'])).toEqual([])
    const many = Array.from({ length: 100 }, (_, n) => (n === 50 ? 'b' : `${n}`))
    expect(await queries.blobs('ada', many)).toEqual([aBlob('b', { size: 5 })])
    expect(await queries.blobUse()).toEqual([
      { owner: 'ada', bytes: 15 },
      { owner: 'bob', bytes: 10 },
    ])
    expect((await queries.blobsAfter('', '', 2)).map(row => row.sha256)).toEqual(['a', 'b'])
    expect((await queries.blobsAfter('ada', 'b', 2)).map(row => row.owner)).toEqual(['bob'])
  })

  it('lists the artifacts of an attempt by path, in pages', async () => {
    const rows = ['c', 'a', 'b'].map(path => anArtifact(1, path))
    await store.append(rowsOnly(...rows.map(artifact), artifact(anArtifact(1, 'z', { attempt: 2, size: 3 }))))
    const { queries } = store
    expect((await queries.artifacts(1, 1, '', 2)).map(row => row.path)).toEqual(['a', 'b'])
    expect(await queries.artifacts(1, 1, 'b', 2)).toEqual([anArtifact(1, 'c')])
    expect(await queries.artifact(1, 2, 'z')).toEqual(anArtifact(1, 'z', { attempt: 2, size: 3 }))
    expect(await queries.artifact(1, 2, 'a')).toBeNull()
    expect(await queries.artifactUse(1, 1)).toEqual({ count: 3, bytes: 30 })
    expect(await queries.artifactUse(9, 1)).toEqual({ count: 0, bytes: 0 })
  })

  it('finds what jobs that ended before a time have, in order and in slices', async () => {
    await store.append(
      rowsOnly(
        ...[1, 2, 4, 5].map(seq => endedJob(seq, seq === 2 ? 9_000 : seq * 100 + 50)),
        insertJob(aJob(3, { submittedAt: 300 })),
        ...[1, 2, 3, 4, 5].flatMap(job => [
          artifact(anArtifact(job, 'x')),
          artifact(anArtifact(job, 'y')),
          { op: 'insert', table: 'chunk', row: aChunk(job, 0) } as const,
        ]),
        {
          op: 'insert',
          table: 'sealed',
          row: { job: 4, epoch: 1, attempt: 1, pack: 1, position: 0, length: 70 },
        },
      ),
    )
    const { queries } = store
    const jobs = async (before: number, after = -1, limit = 10) =>
      (await queries.expired('job', before, after, limit)).map(({ job }) => job)
    expect(await jobs(451)).toEqual([1, 4])
    expect(await jobs(450)).toEqual([1])
    expect(await jobs(10_000)).toEqual([1, 2, 4, 5])
    expect(await jobs(10_000, 1, 2)).toEqual([2, 4])
    expect(await jobs(0)).toEqual([])
    expect(await queries.expired('artifact', 451, -1, 10)).toEqual([
      { job: 1, count: 2, bytes: 20 },
      { job: 4, count: 2, bytes: 20 },
    ])
    expect(await queries.expired('chunk', 451, 1, 10)).toEqual([{ job: 4, count: 1, bytes: 10 }])
    expect(await queries.expired('sealed', 451, -1, 10)).toEqual([{ job: 4, count: 1, bytes: 70 }])
  })

  it('tells inputs of ended jobs from those still needed', async () => {
    await store.append(rowsOnly(endedJob(1, 500), insertJob(aJob(2)), input(1, 'b'), input(1, 'a'), input(2, 'a')))
    expect(await store.queries.endedInputs(10)).toEqual([
      { job: 1, sha256: 'a', owner: 'ada' },
      { job: 1, sha256: 'b', owner: 'ada' },
    ])
    expect(await store.queries.endedInputs(1)).toHaveLength(1)
  })

  it('finds content nothing refers to by its last use, a bounded look at a time', async () => {
    await store.append(
      rowsOnly(
        blob(aBlob('a', { usedAt: 1 })),
        blob(aBlob('b', { usedAt: 2 })),
        blob(aBlob('c', { usedAt: 2, owner: 'bob' })),
        blob(aBlob('d', { usedAt: 3 })),
        blob(aBlob('e', { usedAt: 9 })),
        artifact(anArtifact(1, 'x', { sha256: 'a' })),
        input(2, 'd'),
        input(2, 'c'),
      ),
    )
    const { queries } = store
    const seen: string[] = []
    for (let place: Parameters<typeof queries.unusedBlobs>[1] = null; ; ) {
      const { rows, next }: Awaited<ReturnType<typeof queries.unusedBlobs>> = await queries.unusedBlobs(9, place, 2)
      seen.push(...rows.map(row => row.sha256))
      if (next === null) break
      place = next
    }
    expect(seen).toEqual(['b', 'c'])
    const some = [aBlob('a'), aBlob('b'), aBlob('gone')]
    expect((await queries.unreferred(some)).map(row => row.sha256)).toEqual(['b'])
  })
}

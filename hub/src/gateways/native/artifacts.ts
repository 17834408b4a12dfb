import type { AttemptReport } from '@stoker/protocol'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Blobs } from '../../outputs/artifacts/port.ts'

const NOTHING = { missing: new Set<string>(), release: () => {} }

/** Keeps the content that reports name until they are durable, and tells what of it is not there whole. */
export async function holdArtifacts(
  { engine, blobs }: { readonly engine: Pick<EngineLoop, 'read'>; readonly blobs: Pick<Blobs, 'hold'> },
  reports: readonly AttemptReport[],
): Promise<{ readonly missing: ReadonlySet<string>; readonly release: () => void }> {
  const ends = reports.filter(report => namedBy(report).length > 0)
  if (ends.length === 0) return NOTHING
  const owners = await engine.read(({ active, queued, buckets }) =>
    ends.map(({ fence: { job } }) => buckets.get(active.get(job)?.bucket ?? queued.get(job)?.bucket ?? -1)?.owner),
  )
  const missing = new Set<string>()
  const releases: (() => void)[] = []
  for (const [i, end] of ends.entries()) {
    const owner = owners[i]
    // A stale end publishes nothing, so nothing of it needs to be there.
    if (owner === undefined) continue
    const named = namedBy(end).filter(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256))
    const { found, release } = await blobs.hold(owner, [...new Set(named.map(({ sha256 }) => sha256))])
    releases.push(release)
    for (const { sha256, size } of named) if (found.get(sha256)?.size !== size) missing.add(sha256)
  }
  return { missing, release: () => releases.forEach(release => void release()) }
}

function namedBy(report: AttemptReport): readonly { readonly sha256: string; readonly size: number }[] {
  if (report.kind === 'checkpoint') return report.checkpoint.files
  return report.kind === 'ended' ? (report.artifacts ?? []) : []
}

import { type ArtifactEntry, artifactIssue, type EndedReport, type RowWrite } from '@stoker/protocol'

/** An end as it counts: what it left can be read, or it did not complete. */
export interface SettledEnd {
  readonly end: Omit<EndedReport, 'artifacts'>
  readonly artifacts: readonly ArtifactEntry[]
}

/** Links to bytes that do not exist are never published: a completed attempt fails for them, any other end keeps its outcome and says so. */
export function settleArtifacts(report: EndedReport, missing: ReadonlySet<string>): SettledEnd {
  const { artifacts } = report
  if (artifacts === undefined) return { end: report, artifacts: NONE }
  const end = withoutArtifacts(report)
  const issue = artifactIssue(artifacts) ?? missingIssue(artifacts, missing)
  if (issue === null) return { end, artifacts }
  if (end.outcome === 'completed')
    return { end: { ...end, outcome: 'failed', error: issue, result: null }, artifacts: [] }
  return { end: { ...end, note: end.note === null ? issue : `${end.note}; ${issue}` }, artifacts: [] }
}

const NONE: readonly ArtifactEntry[] = []

function withoutArtifacts({ artifacts: _, ...end }: EndedReport): SettledEnd['end'] {
  return end
}

export function artifactRows(
  { job, attempt }: EndedReport['fence'],
  owner: string,
  artifacts: readonly ArtifactEntry[],
): RowWrite[] {
  return artifacts.map(({ path, sha256, size, executable }) => ({
    op: 'put',
    table: 'artifact',
    row: { job, attempt, path, owner, sha256, size, executable: executable ? 1 : 0 },
  }))
}

function missingIssue(artifacts: readonly ArtifactEntry[], missing: ReadonlySet<string>): string | null {
  const lost = artifacts.filter(({ sha256 }) => missing.has(sha256))
  const [first] = lost
  if (first === undefined) return null
  const others = lost.length === 1 ? '' : ` and ${lost.length - 1} more`
  return `the artifact ${JSON.stringify(first.path)}${others} was named, but the hub does not have its content ${first.sha256.slice(0, 12)} whole`
}

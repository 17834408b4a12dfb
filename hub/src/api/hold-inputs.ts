import { type JobSpec, Refused, type SpecIssue } from '@stoker/protocol'
import type { Blobs } from '../outputs/artifacts/port.ts'

/** Keeps the content that specs name until it is let go; refuses all of them when the owner lacks any of it. */
export async function holdInputs(
  blobs: Blobs,
  owner: string,
  jobs: readonly { readonly spec: Pick<JobSpec, 'files'> }[],
): Promise<() => void> {
  const hashes = [...new Set(jobs.flatMap(({ spec }) => spec.files.map(file => file.sha256)))]
  const { found, release } = await blobs.hold(owner, hashes)
  const issues = jobs.flatMap(({ spec }, job): SpecIssue[] =>
    spec.files.flatMap(({ sha256, size }, index) => {
      const place = `${jobs.length === 1 ? '' : `jobs[${job}].`}files[${index}]`
      const stored = found.get(sha256)
      if (stored === undefined)
        return { path: `${place}.sha256`, message: `the hub has no content ${sha256} of yours; upload it first` }
      if (stored.size === size) return []
      return { path: `${place}.size`, message: `found ${size}; the content ${sha256} has ${stored.size} bytes` }
    }),
  )
  const [first] = issues
  if (first === undefined) return release
  release()
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  throw new Refused('spec.invalid', `${first.path}: ${first.message}${more}`, issues)
}

import { join, resolve } from 'node:path'
import type { Client } from '@stoker/client'
import { atOnce } from '@stoker/files'
import type { Job } from '@stoker/protocol'
import type { Io } from '../io.ts'
import { shortId } from '../output/job-words.ts'
import type { OutputOf } from '../output/schemas.ts'
import { gatherPages } from '../select/list-pages.ts'
import { AT_ONCE, fetchArtifacts } from './fetch-artifacts.ts'
import { outputsFolder } from './local-file.ts'
import { artifactsOf, fetchingOutputs } from './take-outputs.ts'

/** What tells a member from the others, where it can be the name of a folder. */
const MARK = /\[([A-Za-z0-9][A-Za-z0-9._=,-]{0,99})\]$/

/** Brings home what the jobs of an ended group left, each into a folder of its own; null if they left nothing. */
export async function takeGroupOutputs(
  client: Client,
  group: { readonly id: string; readonly size: number },
  out: string | undefined,
  io: Io,
): Promise<OutputOf<'artifacts get'> | null> {
  const folder = out === undefined ? outputsFolder(io.folder, shortId(group.id)) : resolve(io.folder, out)
  const { page } = await gatherPages(client, { group: group.id, limit: group.size })
  const members = await atOnce(AT_ONCE, page.jobs.toReversed(), async job => ({
    job,
    artifacts: await artifactsOf(client, job.id),
  }))
  const all = members.flatMap(({ artifacts }) => artifacts)
  if (all.length === 0) return null
  const files = await fetchingOutputs(all, io, onMore =>
    atOnce(
      AT_ONCE,
      members.filter(({ artifacts }) => artifacts.length > 0),
      async ({ job, artifacts }) => {
        const own = memberFolder(job)
        const options = { folder: join(folder, own), mark: shortId(job.id) }
        const fetched = await fetchArtifacts(client, job.id, artifacts, options, onMore)
        return fetched.map(file => ({ ...file, path: `${own}/${file.path}` }))
      },
    ),
  )
  return { folder, files: files.flat() }
}

function memberFolder({ id, name }: Job): string {
  return MARK.exec(name)?.[1] ?? shortId(id)
}

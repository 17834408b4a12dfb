import { join, resolve } from 'node:path'
import type { Client } from '@stoker/client'
import type { Job } from '@stoker/protocol'
import type { Io } from '../io.ts'
import { shortId } from '../output/job-words.ts'
import type { OutputOf } from '../output/schemas.ts'
import { gatherPages } from '../select/list-pages.ts'
import { outputsFolder } from './local-file.ts'
import { takeOutputs } from './take-outputs.ts'

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
  const files: OutputOf<'artifacts get'>['files'] = []
  const { page } = await gatherPages(client, { group: group.id, limit: group.size })
  for (const job of page.jobs.toReversed()) {
    const own = memberFolder(job)
    const taken = await takeOutputs(client, job.id, { out: join(folder, own), sent: null }, io)
    for (const file of taken?.files ?? []) files.push({ ...file, path: `${own}/${file.path}` })
  }
  return files.length === 0 ? null : { folder, files }
}

function memberFolder({ id, name }: Job): string {
  return MARK.exec(name)?.[1] ?? shortId(id)
}

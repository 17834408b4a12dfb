import { resolve } from 'node:path'
import type { Client } from '@stoker/client'
import type { Artifact } from '@stoker/protocol'
import type { Io } from '../io.ts'
import { shortId } from '../output/job-words.ts'
import type { OutputOf } from '../output/schemas.ts'
import { fetchArtifacts } from './fetch-artifacts.ts'
import { outputsFolder } from './local-file.ts'
import { TransferLine } from './transfer-line.ts'

/** Brings home what an ended job left, null if it left nothing: to the folder it came from if that was sent, else to one of its own. */
export async function takeOutputs(
  client: Client,
  id: string,
  { out, sent }: { readonly out: string | undefined; readonly sent: ReadonlyMap<string, string> | null },
  io: Io,
): Promise<OutputOf<'artifacts get'> | null> {
  const artifacts: Artifact[] = []
  for await (const artifact of client.artifacts(id)) artifacts.push(artifact)
  if (artifacts.length === 0) return null
  const own = sent === null ? outputsFolder(io.folder, shortId(id)) : io.folder
  const folder = out === undefined ? own : resolve(io.folder, out)
  const files = await fetchArtifacts(client, id, artifacts, { folder, mark: shortId(id), sent }, new TransferLine(io))
  return { folder, files: [...files] }
}

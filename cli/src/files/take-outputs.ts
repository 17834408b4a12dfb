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
  const artifacts = await artifactsOf(client, id)
  if (artifacts.length === 0) return null
  const own = sent === null ? outputsFolder(io.folder, shortId(id)) : io.folder
  const folder = out === undefined ? own : resolve(io.folder, out)
  const options = { folder, mark: shortId(id), sent }
  const files = await fetchingOutputs(artifacts, io, onMore => fetchArtifacts(client, id, artifacts, options, onMore))
  return { folder, files: [...files] }
}

export async function artifactsOf(client: Client, id: string, attempt?: number): Promise<Artifact[]> {
  const artifacts: Artifact[] = []
  for await (const artifact of client.artifacts(id, { attempt })) artifacts.push(artifact)
  return artifacts
}

/** Shows how much of these artifacts has come while they are fetched. */
export function fetchingOutputs<T>(
  artifacts: readonly Artifact[],
  io: Io,
  fetch: (onMore: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const size = artifacts.reduce((sum, artifact) => sum + artifact.size, 0)
  return new TransferLine(io).duringMore('fetching outputs', size, fetch)
}

import { downloadContent, type TransferOptions } from '@stoker/net'
import { type Artifact, ArtifactPage } from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { asHubRefused, type ContentPlace, contentSend, MAX_AWAY } from './content.ts'
import { HubUnreachable } from './errors.ts'
import { queryText } from './query.ts'

export interface ArtifactOptions {
  /** Of this attempt instead of the last. */
  readonly attempt?: number | undefined
}

/** All artifacts of an attempt, page by page, in the order of their paths. */
export async function* listArtifacts(caller: Caller, id: string, of: ArtifactOptions = {}): AsyncGenerator<Artifact> {
  let cursor: string | undefined
  do {
    const path = `${artifactsPath(id)}${queryText({ attempt: of.attempt, cursor })}`
    const page = await caller.json({ method: 'GET', path, repeatable: true }, ArtifactPage)
    yield* page.artifacts
    cursor = page.next
  } while (cursor !== undefined)
}

/** Fills a file with an artifact, going on where an earlier try left it; resolves when its hash is right. */
export function downloadArtifact(
  place: ContentPlace,
  id: string,
  artifact: Pick<Artifact, 'path' | 'sha256' | 'size'>,
  file: string,
  { attempt, ...options }: ArtifactOptions & TransferOptions = {},
): Promise<void> {
  const name = artifact.path.split('/').map(encodeURIComponent).join('/')
  const send = contentSend(place, `${artifactsPath(id)}/${name}${queryText({ attempt })}`)
  return asHubRefused(downloadContent(send, artifact, file, { maxAway: MAX_AWAY, ...options }))
}

/** The whole set as one tar; a connection that breaks before its end is an error, never a short archive. */
export async function* artifactsTar(caller: Caller, id: string, of: ArtifactOptions = {}): AsyncGenerator<Uint8Array> {
  const path = `${artifactsPath(id)}.tar${queryText({ attempt: of.attempt })}`
  const reply = await caller.open({ method: 'GET', path, repeatable: true })
  try {
    yield* reply.bytes
  } catch (error) {
    throw new HubUnreachable(caller.url, error)
  }
}

function artifactsPath(id: string): string {
  return `/api/v1/jobs/${encodeURIComponent(id)}/artifacts`
}

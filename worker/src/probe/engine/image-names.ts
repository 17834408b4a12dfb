import type { EngineClient } from '@stoker/net'
import { familiarImage } from '@stoker/protocol'
import { z } from 'zod'
import type { FoundEngine } from './find-engine.ts'

/** More than any machine keeps by name; what a worker says of itself must fit a message. */
const MOST_NAMES = 5_000
const PATIENCE_MS = 10_000

const Images = z.array(
  z.object({ RepoTags: z.array(z.string()).nullish(), RepoDigests: z.array(z.string()).nullish() }),
)

/** Every name of every image, sorted. Podman keeps short names below `localhost/` and finds them without it too. */
export async function imageNames(client: EngineClient, engine: FoundEngine['engine']): Promise<string[]> {
  const images = Images.parse(await client.call('GET', '/images/json', { patienceMs: PATIENCE_MS }))
  const told = images
    .flatMap(({ RepoTags, RepoDigests }) => [...(RepoTags ?? []), ...(RepoDigests ?? [])])
    .filter(name => !name.includes('<none>'))
  const short = engine === 'podman' ? told.map(name => name.replace(/^localhost\//, '')) : []
  return [...new Set([...told, ...short].map(familiarImage))].sort().slice(0, MOST_NAMES)
}

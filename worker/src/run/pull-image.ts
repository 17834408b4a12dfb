import { EngineClient, EngineRefused } from '@stoker/net'
import { type Container, type Containers, familiarImage, type Progress } from '@stoker/protocol'
import { Declined } from './declined.ts'
import { PullProgress } from './pull-progress.ts'
import { unlessSilent } from './unless-silent.ts'

/** A pull takes as long as it takes, but not without a byte for this long. */
const STALL_MS = 120_000
const PATIENCE_MS = 10_000

export interface PullWatch {
  readonly signal: AbortSignal
  /** Also told once before the first byte. */
  readonly onProgress: (progress: Progress) => void
  readonly now: () => number
  readonly stallMs?: number | undefined
}

/** Resolves when the image is there, as the spec and the worker's owner want it to come; true if it was fetched. */
export async function bringImage(
  socket: string,
  { image, pull }: Pick<Container, 'image' | 'pull'>,
  { pulls }: Pick<Containers, 'pulls'>,
  watch: PullWatch,
): Promise<boolean> {
  const client = new EngineClient({ kind: 'socket', path: socket })
  if (pull !== 'always' && (await hasImage(client, image))) return false
  if (pull === 'never')
    throw new Declined(`the job needs image ${image} without fetching it, this worker does not have it`)
  if (!pulls) throw new Declined(`the job needs image ${image} fetched, this worker fetches none (--no-pull)`)
  await pullImage(client, image, watch)
  return true
}

async function hasImage(client: EngineClient, image: string): Promise<boolean> {
  try {
    await client.call('GET', `/images/${encodeURI(image)}/json`, { patienceMs: PATIENCE_MS })
    return true
  } catch (error) {
    if (error instanceof EngineRefused && error.status === 404) return false
    throw error
  }
}

async function pullImage(client: EngineClient, image: string, watch: PullWatch): Promise<void> {
  const { signal, onProgress, now, stallMs = STALL_MS } = watch
  const told = new PullProgress(image)
  onProgress(told.progress)
  const path = `/images/create?${new URLSearchParams(sourceOf(image))}`
  await unlessSilent({ what: `the pull of ${image}`, ms: stallMs, signal }, (stop, alive) =>
    client.stream('POST', path, stop, line => {
      if (told.hear(line, now())) alive()
      onProgress(told.progress)
    }),
  ).catch(error => {
    if (error instanceof EngineRefused) throw new Error(`image ${image} could not be pulled: ${error.message}`)
    throw error
  })
}

/** Without a tag engines would fetch every one there is. */
function sourceOf(image: string): Record<string, string> {
  if (image.includes('@')) return { fromImage: image }
  const tag = /:([^/:]+)$/.exec(familiarImage(image))?.[1] ?? 'latest'
  return { fromImage: image.replace(/:([^/:]+)$/, ''), tag }
}

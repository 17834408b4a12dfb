import { join } from 'node:path'
import { atOnce, matchOutputs, openFileContent, readJsonOr, writeAtomic } from '@stoker/files'
import { uploadContent } from '@stoker/net'
import { ArtifactEntry, isInnerPath, MAX_ARTIFACTS, type Offer } from '@stoker/protocol'
import { z } from 'zod'
import { tally } from '../artifacts/tally.ts'
import type { Transfers } from '../artifacts/transfers.ts'

const AT_ONCE = 4

const Collected = z.object({ artifacts: z.array(ArtifactEntry), unmatched: z.array(z.string()) })
/** What a program left, by name and hash. */
export type Collected = Readonly<z.infer<typeof Collected>>

/**
 * Finds and hashes what the program left. The list is written down before anything is uploaded, so a worker that is killed
 * goes on with the same list. Names and contents are a stranger's: links are not followed, odd names are refused.
 */
export async function collectOutputs(offer: Offer, folder: string): Promise<Collected> {
  const record = join(folder, 'outputs.json')
  const known = Collected.safeParse(await readJsonOr(record, null))
  if (known.success) return known.data
  const work = join(folder, 'work')
  const { paths, count, unmatched } = await matchOutputs(work, offer.spec.outputs, MAX_ARTIFACTS)
  if (count > MAX_ARTIFACTS) throw new Error(`they match ${count} files, at most ${MAX_ARTIFACTS} are kept`)
  const artifacts: ArtifactEntry[] = []
  for (const path of paths) {
    if (!isInnerPath(path)) throw new Error(`${JSON.stringify(path)} has a name that cannot be kept`)
    const { close, read: _, ...entry } = await openFileContent(join(work, path), { name: path })
    await close()
    artifacts.push({ path, ...entry })
  }
  const collected = { artifacts, unmatched: [...unmatched] }
  await writeAtomic(record, JSON.stringify(collected), { mode: 0o600 })
  return collected
}

export interface OutputWatch {
  readonly signal: AbortSignal
  readonly onBytes: (there: number, all: number) => void
}

/** Brings what was collected to the hub, each content once; `kept` fills up as files are over there, also when it ends early. */
export async function uploadOutputs(
  offer: Offer,
  folder: string,
  { artifacts }: Collected,
  transfers: Transfers,
  watch: OutputWatch,
  kept: ArtifactEntry[],
): Promise<void> {
  const byHash = new Map<string, ArtifactEntry[]>()
  for (const entry of artifacts) byHash.set(entry.sha256, [...(byHash.get(entry.sha256) ?? []), entry])
  const all = [...byHash.values()].reduce((sum, [first]) => sum + (first?.size ?? 0), 0)
  const moved = tally(there => watch.onBytes(there, all))
  await atOnce(AT_ONCE, byHash, async ([sha256, entries], index) => {
    const path = entries[0]?.path ?? ''
    watch.signal.throwIfAborted()
    const source = await openFileContent(join(folder, 'work', path), { name: path, sha256 })
    try {
      await uploadContent(transfers.contentOf(offer.fence, sha256), source, {
        signal: watch.signal,
        bandwidth: transfers.bandwidth,
        onBytes: bytes => moved(index, bytes),
      })
    } finally {
      await source.close()
    }
    kept.push(...entries)
  })
}

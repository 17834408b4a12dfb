import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { untilClosed } from '@stoker/files'
import type { ArtifactEntry } from '@stoker/protocol'
import { AnswerError } from './answer-error.ts'
import type { TrainForgeContext } from './context.ts'
import type { Held } from './rules/held.ts'

/** Larger results belong into outputs, which are resumable. */
export const MAX_RESULTS_BYTES = 10 * 2 ** 30
/** What a zip of results is called among a job's artifacts. */
const NAME = 'results.zip'

/** Archives of results that arrive before the end of their job is told. */
export class Results {
  readonly #context: Pick<TrainForgeContext, 'projects' | 'blobs' | 'engine' | 'newSecret'>
  readonly #kept = new Map<string, ArtifactEntry>()

  constructor(context: Pick<TrainForgeContext, 'projects' | 'blobs' | 'engine' | 'newSecret'>) {
    this.#context = context
  }

  async keep(held: Held, body: Readable & { readonly truncated?: boolean }): Promise<void> {
    const { projects, blobs, engine, newSecret } = this.#context
    const owner = await engine.read(({ active, buckets }) => {
      const bucket = active.get(held.fence.job)?.bucket
      return bucket === undefined ? undefined : buckets.get(bucket)?.owner
    })
    if (owner === undefined) {
      body.resume()
      throw new AnswerError(410, `job ${held.id} is over`)
    }
    const folder = projects[0] ?? ''
    const file = join(folder, `.upload-${newSecret()}`)
    const hash = createHash('sha256')
    let size = 0
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      body.on('data', (part: Buffer) => {
        hash.update(part)
        size += part.length
      })
      const target = createWriteStream(file, { flags: 'wx', mode: 0o600 })
      await pipeline(body, target).finally(() => untilClosed(target))
      if (body.truncated === true) throw new AnswerError(413, `results have more than ${MAX_RESULTS_BYTES} bytes`)
      const sha256 = hash.digest('hex')
      const lists = inLists(createReadStream(file))
      await blobs.put({ owner, sha256, size, first: 0, length: size, body: lists })
      this.#kept.set(held.id, { path: NAME, sha256, size, executable: false })
    } finally {
      await rm(file, { force: true })
    }
  }

  /** What there is of it; a second ask finds nothing. */
  take(attempt: string): readonly ArtifactEntry[] {
    const found = this.#kept.get(attempt)
    this.#kept.delete(attempt)
    return found === undefined ? [] : [found]
  }
}

async function* inLists(body: Readable): AsyncGenerator<readonly Uint8Array[], void> {
  for await (const part of body) yield [part]
}

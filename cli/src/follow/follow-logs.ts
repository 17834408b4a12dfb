import { type Client, HubUnreachable, isHubAway, type LogOptions } from '@stoker/client'
import { retrying } from '@stoker/net'

const BACKOFF = { baseMs: 500, maxMs: 5_000, isTemporary: isHubAway }

/**
 * The log to its end. A whole log is continued over a broken connection by passing over the bytes already seen; if a new
 * attempt began meanwhile, that one is shown from its start. A cut log (`tail`, `since`) cannot be continued: a break is an error.
 */
export async function* followLogs(client: Client, id: string, options: LogOptions): AsyncGenerator<Uint8Array> {
  const canContinue = options.follow === true && options.tail === undefined && options.since === undefined
  let attempt = await attemptOf(client, id)
  let seen = 0
  for (;;) {
    try {
      for await (const part of passOver(client.logs(id, options), seen)) {
        seen += part.length
        yield part
      }
      return
    } catch (error) {
      if (!canContinue || !(error instanceof HubUnreachable)) throw error
    }
    const now = await retrying(() => attemptOf(client, id), BACKOFF)
    if (now !== attempt && options.attempt === undefined) seen = 0
    attempt = now
  }
}

/** The log of a job that has not started yet is that of its first attempt. */
async function attemptOf(client: Client, id: string): Promise<number> {
  return Math.max(1, (await client.job(id)).attempts)
}

async function* passOver(parts: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes
  for await (const part of parts) {
    const skipped = Math.min(left, part.length)
    left -= skipped
    if (skipped < part.length) yield part.subarray(skipped)
  }
}

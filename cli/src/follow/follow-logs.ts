import { type Client, HubUnreachable, isHubAway, type LogOptions } from '@stoker/client'
import { retrying } from '@stoker/net'

const BACKOFF = { baseMs: 500, maxMs: 5_000, isTemporary: isHubAway }

/**
 * The log to its end. A followed log goes on over a broken connection: the hub is asked for the same bytes again, from the
 * place the first answer began at, over new attempts too, and those already seen are passed over.
 */
export async function* followLogs(
  client: Pick<Client, 'logs' | 'job'>,
  id: string,
  options: LogOptions,
): AsyncGenerator<Uint8Array> {
  const { tail, since, ...which } = options
  let from: string | undefined
  let seen = 0
  let wasConnected = false
  for (;;) {
    const cut = from === undefined ? { tail, since } : { from }
    const onStart = (place: string | null) => {
      from ??= place ?? undefined
      wasConnected = true
    }
    try {
      for await (const part of passOver(client.logs(id, { ...which, ...cut, onStart }), seen)) {
        seen += part.length
        yield part
      }
      return
    } catch (error) {
      const canContinue = wasConnected && (from !== undefined || (tail === undefined && since === undefined))
      if (options.follow !== true || !canContinue || !(error instanceof HubUnreachable)) throw error
    }
    await retrying(() => client.job(id), { ...BACKOFF, signal: options.signal })
  }
}

async function* passOver(parts: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes
  for await (const part of parts) {
    const skipped = Math.min(left, part.length)
    left -= skipped
    if (skipped < part.length) yield part.subarray(skipped)
  }
}

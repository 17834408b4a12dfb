import type { OutputStream } from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { HubUnreachable } from './errors.ts'
import { queryText } from './query.ts'

export interface LogOptions {
  readonly stream?: OutputStream | undefined
  /** Only the last lines. */
  readonly tail?: number | undefined
  /** A moment (ISO) or how long ago (`10m`). */
  readonly since?: string | undefined
  readonly attempt?: number | undefined
  /** The place an earlier answer began at: the same bytes come again. */
  readonly from?: string | undefined
  /** Told the place the bytes begin at; null from a hub that does not say it. */
  readonly onStart?: ((from: string | null) => void) | undefined
  /** Go on until the job ends. */
  readonly follow?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** The bytes of a program in the order they arrived; a connection that breaks before the end is an error, never a short log. */
export async function* readLogs(caller: Caller, id: string, options: LogOptions = {}): AsyncGenerator<Uint8Array> {
  const { signal, follow, onStart, ...rest } = options
  const query = queryText({ ...rest, follow: follow === true ? 'true' : undefined })
  const path = `/api/v1/jobs/${encodeURIComponent(id)}/logs${query}`
  const silenceMs = follow === true ? 0 : undefined
  const reply = await caller.open({ method: 'GET', path, repeatable: true, silenceMs, signal })
  onStart?.(reply.header('stoker-from'))
  try {
    yield* reply.bytes
  } catch (error) {
    signal?.throwIfAborted()
    throw new HubUnreachable(caller.url, error)
  }
}

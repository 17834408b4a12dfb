import { GuardedFetchError } from './guarded-fetch-error.ts'

/** Returns at the deadline or the caller's abort even if the work cannot be interrupted (DNS); the first cause is told. */
export async function withDeadline<T>(
  place: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  options.signal?.throwIfAborted()
  const stop = new AbortController()
  const fact = `the answer may take ${options.timeoutMs} ms, ${place} took longer`
  const timer = setTimeout(() => stop.abort(new GuardedFetchError('fetch.timeout', fact)), options.timeoutMs)
  const onAbort = () => stop.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(stop.signal), rejection(stop.signal)])
  } catch (error) {
    stop.signal.throwIfAborted()
    throw asGuarded(place, error)
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', onAbort)
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

function asGuarded(place: string, error: unknown): GuardedFetchError {
  if (error instanceof GuardedFetchError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new GuardedFetchError('fetch.network', `${place} was to be fetched, the connection failed: ${reason}`, {
    cause: error,
  })
}

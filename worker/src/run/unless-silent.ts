/** Work that is given up, and its signal aborted, when it has not said for too long that it is alive. */
export async function unlessSilent<T>(
  { what, ms, signal }: { readonly what: string; readonly ms: number; readonly signal?: AbortSignal | undefined },
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error(`${what} made no progress for ${ms / 1000} s`)), ms)
  const either = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal])
  let settle = () => {}
  const given = new Promise<never>((_, reject) => {
    settle = () => reject(either.reason)
    either.addEventListener('abort', settle, { once: true })
  })
  try {
    either.throwIfAborted()
    return await Promise.race([work(either, () => timer.refresh()), given])
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error
  } finally {
    clearTimeout(timer)
    either.removeEventListener('abort', settle)
  }
}

import type { Writable } from 'node:stream'

/** A pipeline that failed has given its file up, but the system may still be opening it: whoever removes it now would come too soon. */
export function untilClosed(stream: Writable): Promise<void> {
  return new Promise(resolve => {
    if (stream.closed) resolve()
    else stream.once('close', resolve)
  })
}

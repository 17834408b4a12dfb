import type { IncomingMessage, RequestListener } from 'node:http'

const removed = new WeakMap<IncomingMessage, string>()

/** What was taken off the path on the way in; nothing on a port of its own. */
export function removedPrefix(request: IncomingMessage): string {
  return removed.get(request) ?? ''
}

/** Requests below a path go to `inner`, which sees them at its own root; all others go to `outer`. */
export function byPrefix(prefix: string, inner: RequestListener, outer: RequestListener): RequestListener {
  return (request, response) => {
    const url = request.url ?? '/'
    const rest = url.startsWith(prefix) ? url.slice(prefix.length) : null
    if (rest === null || !/^($|[/?])/.test(rest)) return outer(request, response)
    removed.set(request, prefix)
    request.url = rest.startsWith('/') ? rest : `/${rest}`
    return inner(request, response)
  }
}

import type { RequestListener } from 'node:http'

/** Requests below a path go to `inner`, which sees them at its own root; all others go to `outer`. */
export function byPrefix(prefix: string, inner: RequestListener, outer: RequestListener): RequestListener {
  return (request, response) => {
    const url = request.url ?? '/'
    const rest = url.startsWith(prefix) ? url.slice(prefix.length) : null
    if (rest === null || !/^($|[/?])/.test(rest)) return outer(request, response)
    request.url = rest.startsWith('/') ? rest : `/${rest}`
    return inner(request, response)
  }
}

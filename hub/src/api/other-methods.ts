import { Refused } from '@stoker/protocol'
import type { Api } from './context.ts'

/** A method that a path does not have is refused by name, before any body is read, instead of looking like a wrong path. To be called before the routes are added. */
export function refuseOtherMethods(api: Api): void {
  const methodsByUrl = new Map<string, Set<string>>()
  let matchers: readonly Matcher[] | null = null
  api.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set()
    for (const each of [method].flat()) methods.add(each)
    methodsByUrl.set(url, methods)
  })
  api.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) {
      done()
      return
    }
    matchers ??= [...methodsByUrl].map(([url, methods]) => ({ path: pathPattern(url), methods }))
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = matchers.flatMap(matcher => (matcher.path.test(path) ? [...matcher.methods] : []))
    if (methods.length === 0) {
      done()
      return
    }
    const allow = [...new Set(methods)].sort().join(', ')
    reply.header('allow', allow)
    done(new Refused('route.method', `${request.method} came; this route takes ${allow}`))
  })
}

interface Matcher {
  readonly path: RegExp
  readonly methods: ReadonlySet<string>
}

/** What a route's URL takes: a word for each `:name`, anything for a `*` at its end. */
function pathPattern(url: string): RegExp {
  const words = url.split('/').map(word => {
    if (word === '*') return '.*'
    return word.startsWith(':') ? '[^/]+' : word.replace(/[^\w-]/g, '\\$&')
  })
  return new RegExp(`^${words.join('/')}$`)
}

import type { FastifyInstance } from 'fastify'

/** Lets pages of the allowed origins call the service from a browser; others get no word about it. */
export function allowOrigins(service: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  service.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin !== undefined && (origins.includes('*') || origins.includes(origin))) {
      reply.header('access-control-allow-origin', origin).header('vary', 'Origin')
      reply.header('access-control-expose-headers', 'Retry-After')
      if (request.method === 'OPTIONS') {
        reply
          .code(204)
          .header('access-control-allow-methods', 'GET, POST, DELETE')
          .header('access-control-allow-headers', 'Content-Type, X-API-Key, X-Queue, Last-Event-ID')
          .header('access-control-max-age', '600')
          .send()
        return
      }
    }
    done()
  })
}

import type { FastifyInstance } from 'fastify'
import type { ConsumerContext } from './context.ts'
import { isoTime } from './iso-time.ts'

const MB = 1024 * 1024

/** Answers anyone: clients ask before they have a token. */
export function addHealthRoute(service: FastifyInstance, { now, version, engine }: ConsumerContext): void {
  const startedAt = now()
  let requests = 0
  service.addHook('onRequest', (_request, _reply, done) => {
    requests += 1
    done()
  })
  service.get('/health', async () => {
    await engine.read(() => null)
    const { rss, heapUsed, heapTotal } = process.memoryUsage()
    return {
      status: 'healthy',
      timestamp: isoTime(now()),
      version,
      service: 'stoker',
      database: 'connected',
      uptime: Math.floor((now() - startedAt) / 1000),
      memory: { rss: Math.round(rss / MB), heapUsed: Math.round(heapUsed / MB), heapTotal: Math.round(heapTotal / MB) },
      requests,
    }
  })
}

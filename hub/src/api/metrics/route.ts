import { Problem } from '@stoker/protocol'
import { Registry } from 'prom-client'
import { z } from 'zod'
import { guard } from '../auth.ts'
import type { Api, RouteContext } from '../context.ts'
import { FleetFigures } from './fleet-figures.ts'
import { HttpFigures } from './http-figures.ts'
import { HubFigures } from './hub-figures.ts'
import { JobFigures } from './job-figures.ts'

/** Figures for Prometheus: most are read when they are asked for, the rest are plain sums. Answers given elsewhere are told to what it returns. */
export function addMetricsRoute(api: Api, context: RouteContext): HttpFigures {
  const registry = new Registry()
  const http = new HttpFigures(registry)
  const jobs = new JobFigures(registry, context.waitCode)
  const fleet = new FleetFigures(registry, context.board)
  const hub = new HubFigures(registry, context)
  const histograms = [...context.metrics, http.times, jobs.waits]
  const stopListening = context.engine.onCommit(({ changes }) => jobs.take(changes))
  api.addHook('onResponse', (request, reply, done) => {
    http.take(request, reply)
    done()
  })
  api.addHook('onClose', async () => {
    stopListening()
    hub.close()
  })

  api.get('/metrics', {
    schema: {
      summary: 'Figures for Prometheus',
      tags: ['hub'],
      response: {
        200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } },
        '4xx': Problem,
        '5xx': Problem,
      },
    },
    onRequest: guard(context.tokens, ['admin', 'read']),
    handler: async (_request, reply) => {
      const now = context.now()
      await hub.measure()
      await context.engine.read(state => {
        jobs.look(state, now)
        fleet.look(state, now)
        hub.look(state)
      })
      http.look()
      const texts = [await registry.metrics(), ...histograms.map(({ text }) => text)]
      return reply.header('content-type', registry.contentType).send(texts.join('\n'))
    },
  })
  return http
}

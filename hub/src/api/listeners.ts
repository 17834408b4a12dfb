import { Listener, ListenerList, NewListener, Problem } from '@stoker/protocol'
import { z } from 'zod'
import { guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['listeners']

/** Whoever may open the hub to the network is its admin. */
export function addListenerRoutes(api: Api, { listeners, tokens }: RouteContext): void {
  const onRequest = guard(tokens, ['admin'])

  api.get('/api/v1/listeners', {
    schema: { summary: 'List where the hub listens', tags, response: { 200: ListenerList, ...errors } },
    onRequest,
    handler: async () => listeners.list(),
  })

  api.post('/api/v1/listeners', {
    schema: {
      summary: 'Listen on one more address, now and after every restart',
      tags,
      body: NewListener,
      response: { 201: Listener, ...errors },
    },
    onRequest,
    handler: async (request, reply) => reply.code(201).send(await listeners.open(request.body.url)),
  })

  api.delete('/api/v1/listeners/:name', {
    schema: {
      summary: 'Listen there no more',
      tags,
      params: z.object({ name: z.string() }),
      response: { 204: z.null(), ...errors },
    },
    onRequest,
    handler: async (request, reply) => {
      await listeners.close(request.params.name)
      return reply.code(204).send(null)
    },
  })
}

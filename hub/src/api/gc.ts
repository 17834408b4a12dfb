import { GcReport, Problem } from '@stoker/protocol'
import { guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['hub']

/** What is past its retention: to see, and to take away now instead of within the hour. */
export function addGcRoutes(api: Api, { gc, tokens }: RouteContext): void {
  const onRequest = guard(tokens, ['admin'])
  api.get('/api/v1/gc', {
    schema: { summary: 'What retention would take away now', tags, response: { 200: GcReport, ...errors } },
    onRequest,
    handler: () => gc.plan(),
  })
  api.post('/api/v1/gc', {
    schema: { summary: 'Take away what is past its retention', tags, response: { 200: GcReport, ...errors } },
    onRequest,
    handler: () => gc.run(),
  })
}

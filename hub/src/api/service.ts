import { JobCounts, JobState, Problem, Role } from '@stoker/protocol'
import { z } from 'zod'
import type { State } from '../engine/state.ts'
import { callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { isoTime } from './iso-time.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const Health = z.object({
  status: z.literal('ok'),
  version: z.string(),
  epoch: z.int(),
  startedAt: z.iso.datetime(),
  workers: z.object({ connected: z.int(), total: z.int() }),
})
const Me = z.object({ owner: z.string(), role: Role, tokenId: z.string() })

/** What is about the hub itself and the one who asks. */
export function addServiceRoutes(api: Api, context: RouteContext): void {
  const { engine, tokens, version } = context
  const onRequest = guard(tokens, ['admin', 'submit', 'read'])

  api.get('/health', {
    schema: { summary: 'Is the hub well?', tags: ['hub'], security: [], response: { 200: Health, ...errors } },
    handler: async () => {
      const live = await engine.read(state => ({ epoch: state.epoch, workers: countWorkers(state) }))
      return { status: 'ok' as const, version, startedAt: isoTime(context.startedAt), ...live }
    },
  })

  api.get('/api/v1/me', {
    schema: { summary: 'Who am I?', tags: ['hub'], response: { 200: Me, ...errors } },
    onRequest,
    handler: async request => {
      const { owner, role, tokenId } = callerOf(request)
      return { owner, role, tokenId }
    },
  })

  api.get('/api/v1/counts', {
    schema: {
      summary: 'Count jobs by state',
      tags: ['jobs'],
      querystring: z.strictObject({ owner: z.string().min(1).max(200).optional() }),
      response: { 200: z.object({ counts: JobCounts }), ...errors },
    },
    onRequest,
    handler: request => {
      const owner = ownerScope(callerOf(request), request.query.owner)
      return engine.read(state => ({ counts: countJobs(state, owner) }))
    },
  })
}

/** The jobs of one owner, or of all when none is named. */
export function countJobs(state: State, owner: string | null): JobCounts {
  const all = owner === null ? [...state.counters.values()] : [state.counters.get(owner)]
  const sum = (name: JobState) => all.reduce((n, counts) => n + (counts?.[name] ?? 0), 0)
  return Object.fromEntries(JobState.options.map(name => [name, sum(name)])) as JobCounts
}

export function countWorkers(state: State): { readonly connected: number; readonly total: number } {
  let connected = 0
  for (const worker of state.workers.values()) if (worker.connected) connected += 1
  return { connected, total: state.workers.size }
}

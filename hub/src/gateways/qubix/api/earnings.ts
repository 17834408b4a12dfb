import { Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import { NotKept } from './answer-error.ts'
import { callerOf, PROVIDERS } from './caller.ts'
import type { ConsumerDesk } from './desk.ts'
import { knownProvider } from './estimate.ts'

interface ById {
  Params: { id: string }
}

/** What providers have earned is not kept yet; what they work on is known. */
export function addEarningsRoutes(scope: FastifyInstance, desk: ConsumerDesk): void {
  const { context } = desk
  for (const tail of ['', '/live', '/summary']) {
    scope.get<ById>(`/api/earnings/:id${tail}`, async request => {
      await callerOf(context, request, PROVIDERS)
      throw new NotKept('this hub keeps no money yet: nothing is held, paid or owed, so there are no earnings to tell')
    })
  }

  scope.get<ById>('/api/earnings/:id/active-jobs', async request => {
    const caller = await callerOf(context, request, PROVIDERS)
    const { id, worker } = knownProvider(await desk.providers(), request.params.id)
    if (caller.role !== 'admin' && worker.facts.owner !== caller.owner)
      throw new Refused('auth.forbidden', `provider ${id} belongs to another; its owner or an admin sees its jobs`)
    const active = [...worker.active.values()]
    const rows = await context.queries.offers(active.map(({ seq }) => seq))
    const ids = new Map(rows.map(row => [row.seq, row.id]))
    const activeJobs = active.map(({ seq, runningAt, placedAt }) => ({
      jobId: ids.get(seq),
      durationSoFar: Math.max(0, (context.now() - (runningAt ?? placedAt)) / 1000),
      earningsSoFar: 0,
      estimatedTotal: 0,
    }))
    return { success: true, activeJobs, message: 'this hub keeps no money yet: jobs earn nothing' }
  })
}

import type { FastifyInstance } from 'fastify'
import { addAnalyzeRoute } from './analyze.ts'
import { answerErrors } from './answer-error.ts'
import type { ConsumerContext } from './context.ts'
import { ConsumerDesk } from './desk.ts'
import { addEarningsRoutes } from './earnings.ts'
import { addEstimateRoute } from './estimate.ts'
import { addJobRoutes } from './jobs.ts'
import { Viewers } from './live/viewers.ts'
import { addMatchRoute } from './match.ts'
import { addMonitorRoutes } from './monitor.ts'
import { addProviderRoutes } from './providers.ts'
import { readJsonAnyway } from './read-body.ts'
import { addStatsRoute } from './stats.ts'
import { addSubmitRoutes } from './submit.ts'

/**
 * The routes of customers, in a scope of their own: bodies and errors of the other routes stay as they are. Whoever
 * wants to be told takes the upgrade of the viewers that are returned; all end with the service.
 */
export function addConsumerRoutes(
  service: FastifyInstance,
  context: ConsumerContext,
  { lookMs }: { readonly lookMs?: number } = {},
): Viewers {
  const desk = new ConsumerDesk(context)
  const viewers = new Viewers(context, lookMs)
  service.register(async scope => {
    answerErrors(scope, context)
    readJsonAnyway(scope)
    scope.get('/health', () => ({ status: 'ok' }))
    addSubmitRoutes(scope, desk)
    addEstimateRoute(scope, desk)
    addAnalyzeRoute(scope, context)
    addJobRoutes(scope, context)
    addMonitorRoutes(scope, context)
    addProviderRoutes(scope, desk)
    addMatchRoute(scope, desk)
    addStatsRoute(scope, context)
    addEarningsRoutes(scope, desk)
    scope.addHook('preClose', async () => viewers.close())
    scope.addHook('onClose', async () => desk.close())
  })
  return viewers
}

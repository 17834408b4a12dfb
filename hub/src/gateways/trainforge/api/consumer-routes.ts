import { mkdir } from 'node:fs/promises'
import multipart from '@fastify/multipart'
import { removeTree } from '@stoker/files'
import type { FastifyInstance } from 'fastify'
import { parseJson } from '../../../serving/parse-json.ts'
import { ConsumerError, errorOf, sendError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'
import { addHealthRoute } from './health-route.ts'
import { addJobRoutes } from './job-routes.ts'
import { addResultRoutes } from './result-routes.ts'
import { addSubmitRoutes } from './submit-routes.ts'
import { addWorkerRoutes } from './worker-routes.ts'
import { WorkerTally } from './worker-tally.ts'

/** What people and tools of this dialect ask for: projects, jobs, results, workers. Errors and bodies are its own, whatever the service has around it. */
export function addConsumerRoutes(service: FastifyInstance, context: ConsumerContext): void {
  service.register(async scope => {
    await removeTree(context.scratch)
    await mkdir(context.scratch, { recursive: true, mode: 0o700 })
    const tally = await WorkerTally.open(context)
    scope.addHook('onClose', async () => tally.close())
    answerInOurWords(scope, context)
    readJsonAnyway(scope)
    if (!scope.hasRequestDecorator('parts')) await scope.register(multipart)
    addHealthRoute(scope, context)
    addSubmitRoutes(scope, context)
    addJobRoutes(scope, context)
    addResultRoutes(scope, context)
    addWorkerRoutes(scope, context, tally)
  })
}

function answerInOurWords(scope: FastifyInstance, { failed, isStopping }: ConsumerContext): void {
  scope.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(new ConsumerError(503, 'Service unavailable', 'the hub is stopping', { retry_after: 5 }))
    else done()
  })
  scope.setErrorHandler((error, _request, reply) => {
    const answer = errorOf(error)
    if (answer.status === 500) failed(error)
    return sendError(reply, answer)
  })
}

/** Bodies that are no forms are JSON, whatever their content type says; GETs may name a type and have none. */
function readJsonAnyway(scope: FastifyInstance): void {
  scope.removeContentTypeParser(['application/json', 'text/plain'])
  if (scope.hasContentTypeParser('*')) return
  scope.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(text))
    } catch (error) {
      done(error as Error)
    }
  })
}

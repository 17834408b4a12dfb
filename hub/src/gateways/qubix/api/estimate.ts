import { Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import { EstimateBody } from './bodies.ts'
import { callerOf, LOOKERS } from './caller.ts'
import type { ConsumerDesk } from './desk.ts'
import { kindOf, typeOf } from './formulas/job-kind.ts'
import { estimatedCost, multiplierOf, priceFor, rounded } from './formulas/price.ts'
import { estimateRun, scaleOf } from './formulas/run-seconds.ts'
import { formatSeconds } from './formulas/time-remaining.ts'
import { findProvider, isoTime, type Provider } from './provider-views.ts'
import { readAs } from './read-body.ts'

/** How long a job would run and what the price lists say to that; how long it would wait is not in it. */
export function addEstimateRoute(scope: FastifyInstance, desk: ConsumerDesk): void {
  const { context, history } = desk
  scope.post('/api/jobs/estimate', async request => {
    await callerOf(context, request, LOOKERS)
    const { modelType, computeNeeded, inputData = {}, ...asked } = readAs(EstimateBody, request.body)
    const providers = await desk.providers()
    const provider = asked.providerId === undefined ? null : knownProvider(providers, asked.providerId)
    const gpu = provider === null ? (asked.gpuModel ?? null) : (provider.gpus[0]?.model ?? null)
    const kind = kindOf(modelType)
    const measured = await history.of(typeOf(modelType), gpu)
    const run = estimateRun(kind, gpu, scaleOf(kind, inputData), measured)
    const seconds = run.basis === 'default' && computeNeeded !== undefined ? computeNeeded * 3600 : run.seconds
    const computeHours = computeNeeded ?? run.seconds / 3600
    const available = providers.filter(({ isActive }) => isActive).map(({ pricePerHour }) => pricePerHour)
    const price = priceFor(provider?.pricePerHour ?? null, asked.maxPrice ?? null, available)
    const modelMultiplier = multiplierOf(modelType)
    return {
      success: true,
      estimate: {
        computeHours,
        pricePerHour: price.perHour,
        priceSource: price.from,
        perMinuteRate: rounded(price.perHour / 60),
        modelMultiplier,
        estimatedCost: estimatedCost(computeHours, price.perHour, modelMultiplier),
        estimatedCompletionTime: isoTime(context.now() + seconds * 1000),
        estimatedDuration: Math.ceil(seconds),
        estimatedDurationFormatted: formatSeconds(seconds),
        confidence: run.confidence,
        range: run.range,
        basis: run.basis,
        gpuModel: gpu,
      },
    }
  })
}

export function knownProvider(providers: readonly Provider[], id: string): Provider {
  const provider = findProvider(providers, id)
  if (provider !== null) return provider
  throw new Refused('worker.not_found', `Provider ${JSON.stringify(id.slice(0, 80))} not found`)
}

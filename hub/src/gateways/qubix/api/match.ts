import { type JobSpec, Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { WorkerState } from '../../../engine/state.ts'
import { type JobAnalysis, MatchBody } from './bodies.ts'
import { callerOf, LOOKERS } from './caller.ts'
import type { ConsumerContext } from './context.ts'
import type { ConsumerDesk } from './desk.ts'
import { type Compatibility, compatibilityOf } from './formulas/compatibility.ts'
import { hasCpuPath, kindOf, typeOf } from './formulas/job-kind.ts'
import { type Needs, needsOf } from './formulas/needs.ts'
import { estimatedCost, multiplierOf } from './formulas/price.ts'
import { costBenefit, ranked, recommendations } from './formulas/ranking.ts'
import { estimateRun, scaleOf } from './formulas/run-seconds.ts'
import { formatSeconds } from './formulas/time-remaining.ts'
import { ANYWHERE, specOf } from './job-spec.ts'
import { type Provider, viewProviderDetails } from './provider-views.ts'
import { readAs } from './read-body.ts'

/** Which providers could take a job, how comfortably, how fast and for how much. */
export function addMatchRoute(scope: FastifyInstance, desk: ConsumerDesk): void {
  const { context, tally } = desk
  scope.post('/api/providers/match', async request => {
    await callerOf(context, request, LOOKERS)
    const body = readAs(MatchBody, request.body)
    const wish = wishOf(context, body)
    const jobs = await tally.counts()
    const there = (await desk.providers()).filter(({ isActive }) => isActive)
    const offers = await Promise.all(there.map(provider => offerOf(desk, wish, provider)))
    const inOrder = ranked(offers, body.sortBy)
    const view = ({ provider, isFree: _, ...offer }: Offer) => ({
      provider: viewProviderDetails(provider, jobs.get(provider.id) ?? 0),
      ...offer,
    })
    return {
      success: true,
      requirements: wish.needs,
      compatibleGPUs: inOrder.map(view),
      recommendations: recommendations(inOrder).map(view),
      totalAvailable: there.length,
      totalCompatible: inOrder.filter(({ compatibility }) => compatibility !== 'insufficient').length,
    }
  })
}

interface Wish {
  readonly modelType: string
  readonly input: Readonly<Record<string, unknown>>
  readonly needs: Needs
  readonly maxPrice: number | undefined
  /** Why a worker cannot run it. */
  readonly refusalOf: (worker: WorkerState) => string | null
}

function wishOf({ refusalsOf }: ConsumerContext, body: z.output<typeof MatchBody>): Wish {
  const analysis = body.jobAnalysis ?? body.jobRequirements ?? body.requirements
  const modelType = body.modelType ?? body.jobType ?? analysis?.jobType
  if (modelType === undefined) throw new Refused('request.invalid', 'modelType: missing; what is to be matched?')
  const { inputData, advancedConfig, maxPrice } = body
  const needs = needsOf(kindOf(modelType), analysis?.detectedFramework ?? 'none', knownNeeds(analysis))
  const spec = specIf(modelType, inputData, advancedConfig)
  const refusalOf = spec === null ? () => 'nothing here computes this type' : refusalsOf(spec)
  return { modelType, input: inputData ?? {}, needs, maxPrice, refusalOf }
}

function knownNeeds(analysis: JobAnalysis | undefined): Partial<Needs> {
  const { estimatedVRAM, estimatedCompute, estimatedRAM, estimatedStorage } = analysis ?? {}
  return {
    vramGb: estimatedVRAM ?? 0,
    tflops: estimatedCompute ?? 0,
    ramGb: estimatedRAM ?? 0,
    storageGb: estimatedStorage ?? 0,
  }
}

const BARE = { dataset: 'x', model: 'x', baseModel: 'x', input: 'x' }

/** Before a job is written its inputs are not known: whether a provider can run the type is asked by its barest form. */
function specIf(
  modelType: string,
  inputData: z.output<typeof MatchBody>['inputData'],
  advancedConfig: z.output<typeof MatchBody>['advancedConfig'],
): JobSpec | null {
  const bare = typeOf(modelType) === 'custom_script' ? { ...BARE, script: 'pass' } : BARE
  try {
    return specOf({ modelType, inputData: { ...bare, ...inputData }, advancedConfig }, ANYWHERE, {})
  } catch (error) {
    if (error instanceof Refused && typeOf(modelType) === null) return null
    throw error
  }
}

interface Offer {
  readonly provider: Provider
  readonly compatibility: Compatibility
  readonly estimatedDuration: number
  readonly estimatedDurationFormatted: string
  readonly estimatedCost: number
  readonly costBenefitScore: number
  readonly confidence: string
  readonly warnings: readonly string[]
  readonly isFree: boolean
}

async function offerOf(desk: ConsumerDesk, wish: Wish, provider: Provider): Promise<Offer> {
  const kind = kindOf(wish.modelType)
  const gpu = provider.gpus[0]?.model ?? null
  const measured = await desk.history.of(typeOf(wish.modelType), gpu)
  const run = estimateRun(kind, gpu, scaleOf(kind, wish.input), measured)
  const cost = estimatedCost(run.seconds / 3600, provider.pricePerHour, multiplierOf(wish.modelType))
  const fit = compatibilityOf(provider, wish.needs, hasCpuPath(kind))
  const refusals = objections(wish, provider)
  const isSimulated = provider.worker.facts.hardware.gpus.some(({ simulated }) => simulated)
  return {
    provider,
    compatibility: refusals.length > 0 ? 'insufficient' : fit.compatibility,
    estimatedDuration: run.seconds,
    estimatedDurationFormatted: formatSeconds(run.seconds),
    estimatedCost: cost,
    costBenefitScore: costBenefit(run.seconds, cost),
    confidence: run.confidence,
    warnings: [...refusals, ...fit.warnings, ...(isSimulated ? ['its GPUs are simulated'] : [])],
    isFree: provider.isFree,
  }
}

/** Memory is not all: a provider may lack the program, or ask for too much. */
function objections({ refusalOf, maxPrice }: Wish, { worker, pricePerHour }: Provider): string[] {
  const cannot = refusalOf(worker)
  const isDear = maxPrice !== undefined && pricePerHour > maxPrice
  return [
    ...(cannot === null ? [] : [cannot]),
    ...(isDear ? [`asks for ${pricePerHour} an hour, at most ${maxPrice} is paid`] : []),
  ]
}

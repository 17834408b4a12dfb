import { type JobSpec, type JobType, Refused } from '@stoker/protocol'
import type { WorkerState } from '../../../engine/state.ts'
import type { CreateBody } from './bodies.ts'
import { hasCpuPath, kindOf } from './formulas/job-kind.ts'
import { ANYWHERE, type Choice, jobType, specOf } from './job-spec.ts'
import { findProvider, type Provider } from './provider-views.ts'

/** As many workers as one job can be kept from. */
const MOST_EXCLUDED = 32

type Wish = Pick<CreateBody, 'modelType' | 'inputData' | 'jobAnalysis' | 'advancedConfig' | 'providerId' | 'maxPrice'>

export interface Chosen extends Choice {
  readonly provider: Provider | null
  /** What the customer should know about it. */
  readonly notes: readonly string[]
}

/** The provider that was asked for if it can run the job, else all that ask for no more than is paid. */
export function chooseProvider(
  wish: Wish,
  providers: readonly Provider[],
  refusalsOf: (spec: JobSpec) => (worker: WorkerState) => string | null,
): Chosen {
  const wanted = wantedProvider(wish, providers)
  const dear = tooDear(wish, providers)
  if (wanted !== null) {
    const gpus = gpusFor(wish, [wanted])
    const reason = refusalsOf(specOf(wish, { ...ANYWHERE, gpus }, {}))(wanted.worker)
    if (reason === null) return { provider: wanted, worker: wanted.id, exclude: [], gpus, notes: cpuNote(wish, gpus) }
    const rest = providers.filter(({ id }) => !dear.includes(id))
    const notes = [`provider ${wanted.id} cannot run it (${reason}), so any other may`]
    return { provider: null, worker: null, exclude: dear, gpus: gpusFor(wish, rest), notes }
  }
  const gpus = gpusFor(
    wish,
    providers.filter(({ id }) => !dear.includes(id)),
  )
  return { provider: null, worker: null, exclude: dear, gpus, notes: cpuNote(wish, gpus) }
}

function wantedProvider({ providerId, maxPrice }: Wish, providers: readonly Provider[]): Provider | null {
  if (providerId === undefined) return null
  const provider = findProvider(providers, providerId)
  if (provider === null) throw new Refused('worker.not_found', `no provider has the id ${JSON.stringify(providerId)}`)
  if (maxPrice !== undefined && provider.pricePerHour > maxPrice)
    throw new Refused(
      'request.invalid',
      `provider ${provider.id} asks for ${provider.pricePerHour} an hour, maxPrice is ${maxPrice}`,
    )
  return provider
}

function tooDear({ maxPrice }: Wish, providers: readonly Provider[]): string[] {
  if (maxPrice === undefined) return []
  const dear = providers.filter(({ pricePerHour }) => pricePerHour > maxPrice).map(({ id }) => id)
  if (dear.length <= MOST_EXCLUDED) return dear
  throw new Refused(
    'request.invalid',
    `${dear.length} providers ask for more than maxPrice ${maxPrice}, a job is kept from at most ${MOST_EXCLUDED}; name one by providerId`,
  )
}

/** Types whose programs use a GPU where they get one. */
const USE_GPU: readonly JobType[] = ['mnist_training', 'training', 'fine-tuning', 'inference', 'stable_diffusion']

/** One, where the work can use it and someone has one that is large enough; work without a CPU path always needs it. */
function gpusFor(wish: Wish, providers: readonly Provider[]): number {
  const { modelType, inputData = {}, jobAnalysis, advancedConfig } = wish
  if (advancedConfig?.gpus !== undefined) return advancedConfig.gpus
  if (!hasCpuPath(kindOf(modelType))) return 1
  const need = jobAnalysis?.estimatedVRAM ?? 0
  if (need === 0 && !USE_GPU.includes(jobType(modelType, inputData))) return 0
  return providers.some(({ vramGb }) => vramGb > 0 && vramGb >= need) ? 1 : 0
}

function cpuNote({ jobAnalysis, advancedConfig }: Wish, gpus: number): string[] {
  const need = jobAnalysis?.estimatedVRAM ?? 0
  if (gpus > 0 || need === 0 || advancedConfig?.gpus !== undefined) return []
  return [`it runs on a CPU: no provider that may take it has a GPU with ${need} GB`]
}

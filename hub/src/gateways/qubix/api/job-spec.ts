import { type JobSpec, type JobSpecInput, type JobType, parseJobSpec, Refused } from '@stoker/protocol'
import type { CreateBody } from './bodies.ts'
import { KNOWN_NAMES, typeOf } from './formulas/job-kind.ts'

type Input = Readonly<Record<string, unknown>>
type Wish = Pick<CreateBody, 'modelType'> & Partial<Pick<CreateBody, 'inputData' | 'jobAnalysis' | 'advancedConfig'>>

/** Where a job may run and what it gets there. */
export interface Choice {
  readonly worker: string | null
  readonly exclude: readonly string[]
  readonly gpus: number
}

export const ANYWHERE: Choice = { worker: null, exclude: [], gpus: 0 }

/** The job a customer asks for; refuses what nothing here would compute as asked. */
export function specOf(wish: Wish, choice: Choice, labels: Record<string, string>): JobSpec {
  const input = wish.inputData ?? {}
  const type = jobType(wish.modelType, input)
  const config: Config = wish.advancedConfig ?? {}
  const parsed = parseJobSpec({
    name: wish.modelType,
    ...programOf(type, input, config),
    ...limitsOf(type, input, config),
    resources: resourcesOf(wish, choice),
    placement: {
      ...(choice.worker === null ? {} : { worker: choice.worker }),
      exclude: [...choice.exclude],
      ...(config.allowUnverified === true ? { unverified: true } : {}),
    },
    labels,
  })
  if (parsed.ok) return parsed.spec
  throw new Refused('spec.invalid', parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; '))
}

/** A word nothing is known of may still come with a script. */
export function jobType(modelType: string, input: Input): JobType {
  const type = typeOf(modelType) ?? (hasScript(input) ? 'custom_script' : null)
  if (type !== null) return type
  throw new Refused(
    'spec.invalid',
    `modelType: found ${JSON.stringify(modelType)}, which nothing here computes; known are ${KNOWN_NAMES.join(', ')}, and any name with inputData.script or inputData.scriptUrl`,
  )
}

type Config = Partial<NonNullable<Wish['advancedConfig']>>

function programOf(type: JobType, input: Input, config: Config): JobSpecInput {
  if (config.dockerImage !== undefined) {
    const { entryPoint } = config
    return {
      image: config.dockerImage,
      ...(entryPoint === undefined ? {} : { command: entryPoint }),
      ...inputOf(input),
    }
  }
  if (config.entryPoint !== undefined)
    throw new Refused('spec.invalid', 'advancedConfig.entryPoint: found without dockerImage, whose command it would be')
  if (type === 'custom_script') return { type, ...inputOf(scriptInput(input)) }
  requireInputs(type, input)
  return { type, ...inputOf(input) }
}

/** What is about the run, not for the program. */
const RUN_KEYS: readonly string[] = ['timeoutSeconds', 'network', 'env', 'outputs']

function inputOf(input: Input): { input: NonNullable<JobSpecInput['input']> } {
  const kept = Object.entries(input).filter(([key]) => !RUN_KEYS.includes(key))
  return { input: Object.fromEntries(kept) as NonNullable<JobSpecInput['input']> }
}

function hasScript({ script, scriptUrl }: Input): boolean {
  return isText(script) || isText(scriptUrl)
}

/** A script that is given wins over one that would be fetched. */
function scriptInput(input: Input): Input {
  if (!hasScript(input)) throw new Refused('spec.invalid', 'inputData: No script content or URL provided')
  const { script, scriptUrl, ...rest } = input
  return isText(script) ? { ...rest, script } : { ...rest, scriptUrl }
}

const REQUIRED: Readonly<Partial<Record<JobType, readonly string[]>>> = {
  training: ['dataset'],
  'fine-tuning': ['baseModel', 'dataset'],
  inference: ['model', 'input'],
}
const COUNTS = ['epochs', 'batch_size', 'num_images', 'steps'] as const

function requireInputs(type: JobType, input: Input): void {
  for (const key of REQUIRED[type] ?? [])
    if (input[key] === undefined || input[key] === null || input[key] === '')
      throw new Refused('spec.invalid', `inputData.${key}: missing; a job of type ${type} computes nothing without it`)
  for (const key of COUNTS) {
    const value = input[key]
    if (value !== undefined && !(typeof value === 'number' && Number.isInteger(value) && value >= 1))
      throw new Refused(
        'spec.invalid',
        `inputData.${key}: found ${JSON.stringify(value)}; allowed: a whole number from 1 on`,
      )
  }
}

function limitsOf(type: JobType, input: Input, config: Config): JobSpecInput {
  const { timeoutSeconds } = input
  if (timeoutSeconds !== undefined && !(typeof timeoutSeconds === 'number' && timeoutSeconds > 0))
    throw new Refused('spec.invalid', 'inputData.timeoutSeconds: allowed is a number above 0')
  const seconds = timeoutSeconds ?? (config.maxDuration === undefined ? undefined : config.maxDuration * 3600)
  const network = networkOf(type, input)
  const env = { ...envOf(input.env), ...config.environmentVars }
  return {
    ...(seconds === undefined ? {} : { timeout: seconds }),
    ...(network === undefined ? {} : { network }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(input.outputs === undefined ? {} : { outputs: input.outputs as string[] }),
  }
}

function envOf(env: unknown): Record<string, string> {
  if (env === undefined || env === null) return {}
  const isRecord = typeof env === 'object' && !Array.isArray(env)
  if (!isRecord || Object.values(env).some(value => typeof value !== 'string'))
    throw new Refused('spec.invalid', 'inputData.env: allowed is an object whose values are texts')
  return env as Record<string, string>
}

/** Digits without a dataset, and data named by URL, are fetched from the internet. */
function networkOf(type: JobType, { network, dataset, model, baseModel }: Input): JobSpecInput['network'] {
  if (network === true || network === 'internet') return 'internet'
  if (network === false || network === 'none') return 'none'
  if (network !== undefined)
    throw new Refused('spec.invalid', 'inputData.network: allowed are true, false, "internet" and "none"')
  const isFetched = [dataset, model, baseModel].some(named => typeof named === 'string' && /^https?:/i.test(named))
  return isFetched || (type === 'mnist_training' && dataset === undefined) ? 'internet' : undefined
}

function resourcesOf({ jobAnalysis }: Wish, { gpus }: Choice): NonNullable<JobSpecInput['resources']> {
  const { estimatedVRAM = 0, estimatedRAM = 0 } = jobAnalysis ?? {}
  return {
    gpus,
    ...(gpus > 0 && estimatedVRAM > 0 ? { gpuMemory: bytesOf(estimatedVRAM) } : {}),
    ...(estimatedRAM > 0 ? { memory: bytesOf(estimatedRAM) } : {}),
  }
}

function bytesOf(gigabytes: number): number {
  return Math.round(gigabytes * 1e9)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

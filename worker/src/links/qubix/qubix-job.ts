import { type Abilities, type JobSpec, type JobSpecInput, parseJobSpec } from '@stoker/protocol'
import { z } from 'zod'

/** A job as backends hand it out; what else they say is theirs. */
const Listed = z.looseObject({
  id: z.union([z.string().regex(/^[^\p{Cc}]{1,200}$/u), z.int()]),
  jobType: z.string().nullish(),
  modelType: z.string().nullish(),
  inputData: z.unknown(),
  status: z.string().nullish(),
})

export interface QubixJob {
  readonly id: string
  readonly type: string
  readonly input: Readonly<Record<string, unknown>>
}

const OVER: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELLED']

/** The jobs in a list, whatever stands around them; what is no job, or is over, is left out. */
export function jobsIn(list: unknown): readonly QubixJob[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(one => {
    const { data } = Listed.safeParse(one)
    if (data === undefined || OVER.includes(data.status?.toUpperCase() ?? '')) return []
    return [{ id: String(data.id), type: data.jobType ?? data.modelType ?? 'custom', input: inputOf(data.inputData) }]
  })
}

/** A poll is answered with a bare list by most backends, with one in an object by some. */
export function listIn(answer: unknown): unknown {
  if (Array.isArray(answer) || typeof answer !== 'object' || answer === null) return answer
  const { jobs, pendingJobs } = answer as Readonly<Record<string, unknown>>
  return jobs ?? pendingJobs
}

function inputOf(value: unknown): Readonly<Record<string, unknown>> {
  const input = typeof value === 'string' ? tryJson(value) : value
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Record<string, unknown>) : {}
}

/** Types of this dialect, by our names for their programs. */
const PROGRAMS = ['mnist_training', 'stable_diffusion', 'training', 'inference', 'fine-tuning', 'compute'] as const
type Program = (typeof PROGRAMS)[number]

/** What this worker can really do, in the words of the dialect. */
export function capabilitiesOf(abilities: Abilities): readonly string[] {
  if (!abilities.executors.includes('process')) return []
  return ['custom_script', ...PROGRAMS.filter(type => whyNot(type, abilities) === null)]
}

/** Our spec of the job, or the sentence why this worker cannot run it: nothing is ever made up. */
export function specOf(job: QubixJob, gpus: number, abilities: Abilities): JobSpec | string {
  const { input } = job
  const program = programOf(job)
  const missing = program === null ? null : whyNot(program, abilities)
  if (missing !== null) return missing
  if (program === null && !isText(input.script) && !isText(input.scriptUrl)) return 'No script content or URL provided'
  const parsed = parseJobSpec({
    name: `qubix ${job.type}`.slice(0, 200),
    type: program ?? 'custom_script',
    input: program === null ? scriptInput(input) : input,
    resources: { gpus },
    ...limitsOf(input),
  } as JobSpecInput)
  return parsed.ok ? parsed.spec : parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
}

/** Null: a script. A job that brings one is that, whatever it calls itself. */
function programOf({ type, input }: QubixJob): Program | null {
  const name = type.toLowerCase()
  if (isText(input.script) || isText(input.scriptUrl) || name.includes('script') || name === 'custom') return null
  if (name.includes('mnist')) return 'mnist_training'
  if (name.includes('stable') || name.includes('diffusion')) return 'stable_diffusion'
  return PROGRAMS.find(program => program === name) ?? 'compute'
}

function whyNot(type: Program, abilities: Abilities): string | null {
  const ability = abilities.types?.[type]
  if (ability === undefined) return `this worker has no program for "${type}"`
  return ability.state === 'impossible'
    ? `this worker cannot run "${type}": ${ability.reason ?? 'no reason given'}`
    : null
}

/** An inline script wins over a URL. */
function scriptInput({ script, scriptUrl, args }: QubixJob['input']) {
  return {
    ...(isText(script) ? { script } : { scriptUrl }),
    ...(Array.isArray(args) ? { args: args.map(String) } : {}),
  }
}

function limitsOf({ env, timeoutSeconds, network }: QubixJob['input']) {
  const net = network === true ? 'internet' : network === false ? 'none' : network
  return {
    ...(typeof env === 'object' && env !== null ? { env: textsOf(env) } : {}),
    ...(timeoutSeconds == null ? {} : { timeout: timeoutSeconds }),
    ...(net == null ? {} : { network: net }),
  }
}

function textsOf(env: object): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

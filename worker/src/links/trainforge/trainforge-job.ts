import { type Abilities, isInnerPath, type JobSpec, type JobSpecInput, parseJobSpec, parseSize } from '@stoker/protocol'
import { z } from 'zod'
import type { Machine, Need } from '../foreign/places.ts'

const Id = z.union([z.string().regex(/^[^\p{Cc}]{1,200}$/u), z.int()])
const Loose = z.record(z.string(), z.unknown()).catch({})
const Listed = z.looseObject({
  job_id: Id.optional(),
  id: Id.optional(),
  status: z.string().nullish(),
  resources: Loose,
  training: Loose,
  training_script: z.string().nullish(),
  config: Loose,
})

/** A job as schedulers hand it out, in either of their forms. */
export interface TrainforgeJob {
  readonly id: string
  /** Null: one of the usual names. */
  readonly script: string | null
  readonly gpus: number
  /** Null: nobody said. */
  readonly cpus: number | null
  readonly memoryBytes: number | null
  readonly env: Readonly<Record<string, string>>
}

/** Absent means one, as everywhere in this dialect. */
const DEFAULT_GPUS = 1
const DEFAULT_CPUS = 2
/** Kept for a job that says nothing of memory. */
const DEFAULT_MEMORY_BYTES = 2 ** 30
const USUAL_SCRIPTS = ['train.py', 'main.py', 'run.py']

/** What is no job, or is not waiting, is left out. */
export function jobsIn(list: unknown): readonly TrainforgeJob[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(one => {
    const { data } = Listed.safeParse(one)
    const id = data?.job_id ?? data?.id
    if (data === undefined || id === undefined || (data.status ?? 'pending') !== 'pending') return []
    return [{ id: String(id), script: scriptOf(data), ...needsOf(data), env: envOf(data.config) }]
  })
}

/** What is kept for it on this machine. */
export function needOf({ gpus, cpus, memoryBytes }: TrainforgeJob, machine: Machine): Need {
  return {
    gpus,
    cpus: cpus ?? Math.min(DEFAULT_CPUS, machine.cpus),
    memoryBytes: memoryBytes ?? Math.min(DEFAULT_MEMORY_BYTES, machine.memoryBytes),
  }
}

export interface Project {
  readonly sha256: string
  readonly size: number
  readonly files: ReadonlySet<string>
  readonly requirements: string | null
}

/** Our spec of the job, or the sentence why there is none. */
export function specOf(job: TrainforgeJob, need: Need, project: Project, abilities: Abilities): JobSpec | string {
  const script = chosenScript(job, project)
  if (script === null) return `the project has no ${job.script ?? USUAL_SCRIPTS.join(', ')}; ${contents(project)}`
  const parsed = parseJobSpec({
    name: `trainforge ${job.id}`.slice(0, 200),
    command: ['python3', script],
    env: { ...job.env, TRAINFORGE_JOB_ID: job.id, PYTHONUNBUFFERED: '1' },
    files: [{ path: '.', sha256: project.sha256, size: project.size, unpack: 'zip' }],
    resources: {
      gpus: need.gpus,
      cpus: need.cpus,
      ...(job.memoryBytes === null ? {} : { memory: job.memoryBytes }),
    },
    ...(abilities.sandbox && abilities.internet ? { network: 'internet' } : {}),
    ...environmentOf(project),
  } as JobSpecInput)
  return parsed.ok ? parsed.spec : parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
}

/** Packages are installed by the worker's own step, where it has one. */
function environmentOf({ requirements }: Project): Pick<JobSpecInput, 'environment'> {
  return requirements === null ? {} : { environment: { requirements } }
}

function chosenScript({ script }: TrainforgeJob, { files }: Project): string | null {
  const names = script === null ? USUAL_SCRIPTS : [script.replace(/^(\.\/)+/, '')]
  return names.find(name => isInnerPath(name) && !name.startsWith('-') && files.has(name)) ?? null
}

function contents({ files }: Project): string {
  return files.size === 0 ? 'it is empty' : `it has ${[...files].slice(0, 10).join(', ')}`
}

function scriptOf({ training, training_script: flat, config }: z.infer<typeof Listed>): string | null {
  const inner = Loose.parse(config.training).script
  return [training.script, flat, inner].filter(one => typeof one === 'string').find(one => one !== '') ?? null
}

function needsOf({ resources, config }: z.infer<typeof Listed>): Pick<TrainforgeJob, 'gpus' | 'cpus' | 'memoryBytes'> {
  const asked = { ...Loose.parse(config.resources), ...resources }
  const { gpu, cpu, memory } = asked
  return {
    gpus: gpu === true ? 1 : gpu === false ? 0 : (countOf(gpu) ?? DEFAULT_GPUS),
    cpus: countOf(cpu),
    memoryBytes: typeof memory === 'string' || typeof memory === 'number' ? parseSize(memory) : null,
  }
}

function countOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number <= 4096 ? Math.ceil(number) : null
}

function envOf(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const { env, variables } = Loose.parse(config.environment)
  const given = { ...Loose.parse(variables), ...Loose.parse(env) }
  const simple = Object.entries(given).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return Object.fromEntries(simple.map(([name, value]) => [name, String(value)]))
}

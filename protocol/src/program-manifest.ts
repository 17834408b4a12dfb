import { z } from 'zod'
import type { JobSpec } from './job-spec.ts'
import { PROGRAM_TYPES } from './job-types.ts'
import { nearest } from './nearest.ts'
import { sharedWork } from './program-ranks.ts'
import type { SpecIssue } from './spec-issues.ts'

const INPUT_TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'any'] as const

/** One input of a program: what it may be, and what it is when nobody says. */
const ProgramInput = z.object({
  type: z.enum(INPUT_TYPES),
  default: z.json().optional(),
  required: z.boolean().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  /** The only values there are. */
  choices: z.array(z.json()).optional(),
  description: z.string().optional(),
})
type ProgramInput = Readonly<z.infer<typeof ProgramInput>>

/** What the folder of a program type says of itself in `program.json`. */
export const ProgramManifest = z.object({
  type: z.enum(PROGRAM_TYPES),
  title: z.string(),
  inputs: z.record(z.string(), ProgramInput),
  needs: z
    .object({
      gpu: z.enum(['none', 'optional', 'required']).default('optional'),
      minMemoryMb: z.number().default(0),
      minDiskMb: z.number().default(0),
      network: z.enum(['none', 'internet']).default('none'),
    })
    .prefault({}),
  sessions: z.boolean().default(false),
  /** Several processes of it can share the work of one job. */
  ranks: z.boolean().default(false),
})
export type ProgramManifest = Readonly<z.infer<typeof ProgramManifest>>

/** What a job of the type says that its program would refuse. Tasks of a session bring inputs of their own. */
export function checkProgram(manifest: ProgramManifest, spec: Pick<JobSpec, 'input' | 'session'>): SpecIssue[] {
  const { type, inputs, sessions } = manifest
  if (spec.session !== null && !sessions)
    return [{ path: 'session', message: `found session; the program of type "${type}" runs once and ends` }]
  const known = Object.keys(inputs)
  const unknown = Object.keys(spec.input)
    .filter(name => inputs[name] === undefined)
    .map(name => ({ path: `input.${name}`, message: unknownInput(name, type, known) }))
  const wrong = known.flatMap(name => {
    const message = wrongValue(spec.input[name], inputs[name], spec.session !== null)
    return message === null ? [] : [{ path: `input.${name}`, message }]
  })
  return [...unknown, ...wrong]
}

/** As its program needs it where the job leaves it open: the network, a device, and a process for each of several devices. */
export function withProgramNeeds(spec: JobSpec, { needs, ranks: canShare }: ProgramManifest): JobSpec {
  const network = spec.network === null && needs.network === 'internet' ? 'internet' : spec.network
  const asked = needs.gpu === 'required' ? Math.max(1, spec.resources.gpus) : spec.resources.gpus
  const { gpus, ranks } = sharedWork(spec, asked, canShare)
  if (network === spec.network && gpus === spec.resources.gpus && ranks === spec.ranks) return spec
  return { ...spec, network, ranks, resources: { ...spec.resources, gpus } }
}

function unknownInput(name: string, type: string, known: readonly string[]): string {
  const close = nearest(name, known)
  const hint = close === null ? '' : `; did you mean "${close}"?`
  return `unknown input "${name}"${hint} (${type} has: ${known.join(', ') || 'none'})`
}

function wrongValue(value: unknown, input: ProgramInput | undefined, isSession: boolean): string | null {
  if (input === undefined) return null
  if (value === undefined || value === null)
    return input.required === true && !isSession ? `missing; allowed: ${kindOf(input)}` : null
  return fits(value, input) ? null : `found ${shown(value)}; allowed: ${kindOf(input)}`
}

function fits(value: unknown, { type, min, max, choices }: ProgramInput): boolean {
  if (choices !== undefined && !choices.some(one => JSON.stringify(one) === JSON.stringify(value))) return false
  if (type === 'integer' && !Number.isInteger(value)) return false
  if (type === 'object' && (typeof value !== 'object' || Array.isArray(value))) return false
  if (type === 'array' && !Array.isArray(value)) return false
  if ((type === 'string' || type === 'number' || type === 'boolean') && typeof value !== type) return false
  const size = typeof value === 'string' || Array.isArray(value) ? value.length : value
  return typeof size !== 'number' || (size >= (min ?? size) && size <= (max ?? size))
}

function kindOf({ type, min, max, choices }: ProgramInput): string {
  if (choices !== undefined) return choices.map(one => JSON.stringify(one)).join(', ')
  const range = [min === undefined ? '' : `from ${min}`, max === undefined ? '' : `to ${max}`].filter(Boolean).join(' ')
  return range === '' ? type : `${type} ${range}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

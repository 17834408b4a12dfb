import { z } from 'zod'
import { type SpecIssue, specIssues } from './spec-issues.ts'

/** Types whose programs come with the worker: each is a folder of `jobs/`. */
export const PROGRAM_TYPES = [
  'compute',
  'dpo',
  'fine-tuning',
  'inference',
  'lora_sft',
  'mnist_training',
  'ppo',
  'rag',
  'sft',
  'stable_diffusion',
  'training',
] as const
export type ProgramType = (typeof PROGRAM_TYPES)[number]

export const JOB_TYPES = ['command', 'custom_script', 'echo', 'noop', 'task', ...PROGRAM_TYPES] as const
export type JobType = (typeof JOB_TYPES)[number]

export function isProgramType(type: JobType): type is ProgramType {
  return (PROGRAM_TYPES as readonly string[]).includes(type)
}

/** A process gets one CPU unless it says otherwise; inline types run inside the worker and take none. */
export const DEFAULT_CPUS = 1

/** Inline types need no process: the worker answers them itself. */
export function isInline(type: JobType): boolean {
  return type === 'echo' || type === 'noop'
}

/** A task is answered by the program of a session; all other types that are not inline start one of their own. */
export function startsProgram(type: JobType): boolean {
  return !isInline(type) && type !== 'task'
}

/** `custom_script`: a script given in the spec or by URL, run by an interpreter (Python unless named). */
export const CustomScriptInput = z.looseObject({
  script: z.string().min(1).optional(),
  scriptUrl: z.url({ protocol: /^https?$/, message: 'scriptUrl is an http or https URL' }).optional(),
  args: z.array(z.string()).optional(),
  interpreter: z.string().min(1).max(200).optional(),
})

export type CustomScriptInput = z.infer<typeof CustomScriptInput>

/** `noop`: the documented fake program of tests, simulation and bench. */
export const NoopInput = z.strictObject({
  runMs: z.number().min(0).max(86_400_000).default(0),
  exitCode: z.int().min(0).max(255).default(0),
  events: z.array(z.record(z.string(), z.json())).max(1000).default([]),
  failAt: z.enum(['start', 'end']).optional(),
})
export type NoopInput = z.infer<typeof NoopInput>

/** What a type wants of `command` and `input`, checked at the edge. */
export function checkInput(type: JobType, { command, image, input }: Told, issues: SpecIssue[]): void {
  if (type === 'command') {
    if (command === undefined && image === undefined)
      issues.push({ path: 'command', message: 'missing; a job of type "command" needs one, or an image with its own' })
  } else if (command !== undefined) {
    issues.push({ path: 'command', message: `found a command; a job of type "${type}" has none` })
  } else if (type === 'custom_script') checkScript(input ?? {}, issues)
  else if (type === 'noop' && input !== undefined) checkBy(NoopInput, input, issues)
}

interface Told {
  readonly command?: unknown
  readonly image?: unknown
  readonly input?: Readonly<Record<string, unknown>> | undefined
}

/** Inline types and tasks have no folder that files could be put into or taken from. */
export function checkTransfers(
  type: JobType,
  spec: { readonly files?: readonly unknown[] | undefined; readonly outputs?: readonly unknown[] | undefined },
  issues: SpecIssue[],
): void {
  for (const path of ['files', 'outputs'] as const)
    if ((spec[path]?.length ?? 0) > 0)
      issues.push({ path, message: `found ${path}; a job of type "${type}" runs without a folder of its own` })
}

function checkScript(input: Readonly<Record<string, unknown>>, issues: SpecIssue[]): void {
  checkBy(CustomScriptInput, input, issues)
  const given = ['script', 'scriptUrl'].filter(key => input[key] !== undefined)
  if (issues.length > 0 || given.length === 1) return
  const found = given.length === 0 ? 'neither' : 'both'
  issues.push({
    path: 'input',
    message: `found ${found} of script and scriptUrl; custom_script needs exactly one`,
  })
}

function checkBy(schema: z.ZodObject, input: unknown, issues: SpecIssue[]): void {
  const parsed = schema.safeParse(input)
  if (parsed.success) return
  const known = Object.keys(schema.shape)
  for (const { path, message } of specIssues(parsed.error, input, () => known))
    issues.push({ path: `input.${path}`, message })
}

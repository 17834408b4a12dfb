import { z } from 'zod'
import type { SpecIssue } from './spec-issues.ts'
import { text } from './spec-text.ts'

const MAX_REQUIREMENTS_BYTES = 64 * 1024

/** Python packages a program needs, as pip reads them; the worker installs them once for all jobs that name the same. */
export const EnvironmentInput = z.strictObject({
  requirements: z.union([text(MAX_REQUIREMENTS_BYTES), z.array(text(1000)).max(1000)]),
  /** Such as "3.11": that interpreter and no other. */
  python: z
    .string()
    .regex(/^3\.\d{1,2}$/, 'a version like "3.11"')
    .optional(),
})

export const Environment = z.object({ requirements: z.string(), python: z.string().nullable().default(null) })
export type Environment = Readonly<z.infer<typeof Environment>>

/** How many processes the program runs as: one for each of its GPUs, or so many. */
export const Ranks = z.union([z.literal('gpus'), z.int().min(1).max(64)])
export type Ranks = z.infer<typeof Ranks>

export function environmentOf({ requirements, python }: z.output<typeof EnvironmentInput>): Environment {
  return {
    requirements: typeof requirements === 'string' ? requirements : requirements.join('\n'),
    python: python ?? null,
  }
}

interface Asked {
  readonly environment?: unknown
  readonly ranks?: unknown
  readonly image?: unknown
  readonly session?: unknown
  readonly command?: unknown
  readonly type?: unknown
}

/** Only a program of its own has packages and ranks; an image brings its packages along. */
export function checkEnvironment(asked: Asked, isProgram: boolean, issues: SpecIssue[]): void {
  if (asked.environment === undefined && asked.ranks === undefined) return
  for (const path of ['environment', 'ranks'] as const)
    if (asked[path] !== undefined && !isProgram)
      issues.push({ path, message: `found ${path}; only a job that starts a program of its own has one` })
  if (asked.environment !== undefined && asked.image !== undefined)
    issues.push({ path: 'environment', message: 'found environment and image; an image brings its packages with it' })
  const isOwnCommand = asked.command === undefined && (asked.type ?? 'command') === 'command'
  if (asked.ranks !== undefined && asked.image !== undefined && isOwnCommand)
    issues.push({ path: 'ranks', message: 'found ranks and no command; what an image starts by itself is not known' })
  if (asked.ranks !== undefined && asked.session !== undefined)
    issues.push({ path: 'ranks', message: 'found ranks and session; the lines of a session go to one process' })
}

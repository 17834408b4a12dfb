import { z } from 'zod'

/** A set of Python packages that was installed on a machine, as it is written down with it. */
export const EnvironmentFacts = z.object({
  key: z.string(),
  /** As pip reads them, without comments. */
  requirements: z.string(),
  requirementsHash: z.string(),
  python: z.string(),
  packages: z.array(z.string()),
  bytes: z.number(),
  builtAt: z.iso.datetime(),
  seconds: z.number(),
})
export type EnvironmentFacts = Readonly<z.infer<typeof EnvironmentFacts>>

export const EnvironmentEntry = EnvironmentFacts.extend({
  path: z.string(),
  usedAt: z.iso.datetime(),
  /** Attempts that use it now. */
  inUse: z.int(),
  /** Program types it serves. */
  types: z.array(z.string()),
})
export type EnvironmentEntry = Readonly<z.infer<typeof EnvironmentEntry>>

/** What is installed on a machine, and what was kept of it. */
export const EnvironmentList = z.object({
  folder: z.string(),
  limitBytes: z.number(),
  wheels: z.object({ count: z.int(), bytes: z.number() }),
  environments: z.array(EnvironmentEntry),
})
export type EnvironmentList = Readonly<z.infer<typeof EnvironmentList>>

export const EnvironmentWarmed = z.object({ wasThere: z.boolean(), environment: EnvironmentEntry })
export type EnvironmentWarmed = Readonly<z.infer<typeof EnvironmentWarmed>>

export const EnvironmentsPruned = z.object({ environments: z.array(z.string()), wheels: z.int(), bytes: z.number() })
export type EnvironmentsPruned = Readonly<z.infer<typeof EnvironmentsPruned>>

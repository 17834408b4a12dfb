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

/** What the environments of a machine are, for people. */
export const EnvironmentList = z.object({
  folder: z.string(),
  limitBytes: z.number(),
  wheels: z.object({ count: z.int(), bytes: z.number() }),
  environments: z.array(
    EnvironmentFacts.extend({
      path: z.string(),
      usedAt: z.iso.datetime(),
      /** Attempts that use it now. */
      inUse: z.int(),
      /** Program types it serves. */
      types: z.array(z.string()),
    }),
  ),
})
export type EnvironmentList = Readonly<z.infer<typeof EnvironmentList>>

import { z } from 'zod'

/** One thing `stoker doctor` looked at: how it is, in a sentence, and what to do where something is wrong. */
export const Finding = z.object({
  check: z.string(),
  level: z.enum(['ok', 'warn', 'bad']),
  text: z.string(),
  todo: z.string().nullable(),
})
export type Finding = Readonly<z.infer<typeof Finding>>

export const Findings = z.object({ findings: z.array(Finding) })

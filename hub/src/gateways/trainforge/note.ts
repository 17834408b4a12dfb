import { z } from 'zod'
import type { Json } from '../../engine/state.ts'
import { Registration } from './registration.ts'

/** An attempt as it must be known after a restart of the hub. */
export const HeldNote = z.object({
  id: z.string(),
  job: z.int(),
  epoch: z.int(),
  attempt: z.int(),
  /** The worker was told of it. */
  isGiven: z.boolean(),
  /** Its runner has called. */
  isHeard: z.boolean(),
  /** SHA-256 of its runner's token. */
  runner: z.string(),
})
export type HeldNote = Readonly<z.infer<typeof HeldNote>>

/** What is remembered of a worker with the worker itself. */
export const Note = z.object({
  v: z.literal(1),
  id: z.string(),
  told: Registration,
  address: z.string(),
  settings: z.object({ trustGpus: z.boolean(), allowDocker: z.boolean() }),
  declines: z.int(),
  conflict: z.string().nullable(),
  held: z.array(HeldNote),
})
export type Note = Readonly<z.infer<typeof Note>>

/** Null for what this version cannot read. */
export function readNote(note: Json): Note | null {
  const parsed = Note.safeParse(note)
  return parsed.success ? parsed.data : null
}

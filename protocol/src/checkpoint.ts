import { z } from 'zod'
import { isInnerPath, Sha256 } from './artifact.ts'

export const MAX_CHECKPOINT_FILES = 1000

/** What a program wrote to go on from: the file, or all files of the folder, that its event named. */
export const Checkpoint = z.object({
  step: z.int().min(0),
  kind: z.enum(['file', 'folder']),
  files: z
    .array(z.object({ path: z.string().refine(isInnerPath), sha256: Sha256, size: z.int().min(0) }))
    .min(1)
    .max(MAX_CHECKPOINT_FILES),
})
export type Checkpoint = Readonly<z.infer<typeof Checkpoint>>

/** The newest checkpoint of a job is kept among its artifacts, under a number that no attempt has. */
export const CHECKPOINT_ATTEMPT = 0

export function checkpointPath(attempt: number, { step, kind }: Checkpoint, path: string): string {
  return `${attempt}/${step}/${kind}/${path}`
}

/** The checkpoint that rows of artifacts hold; null where there is none. */
export function checkpointIn(
  rows: readonly { readonly path: string; readonly sha256: string; readonly size: number }[],
): Checkpoint | null {
  const files = rows.map(({ path, sha256, size }) => ({ path: path.split('/').slice(3).join('/'), sha256, size }))
  const [, step, kind] = rows[0]?.path.split('/') ?? []
  return Checkpoint.safeParse({ step: Number(step), kind, files }).data ?? null
}

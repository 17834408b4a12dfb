import { z } from 'zod'
import { Sha256 } from '../artifact.ts'

/** A file an attempt left, as people see it; `type` is guessed from its name. */
export const Artifact = z.object({
  path: z.string(),
  size: z.int(),
  sha256: Sha256,
  type: z.string(),
  executable: z.boolean(),
})
export type Artifact = z.infer<typeof Artifact>

/** Artifacts in the order of their paths; `bytes` is the size of the whole set, `next` is there when the list goes on. */
export const ArtifactPage = z.object({
  artifacts: z.array(Artifact),
  bytes: z.int(),
  next: z.string().optional(),
})
export type ArtifactPage = z.infer<typeof ArtifactPage>

/** What an upload answers when all of it is here and is what its name says. */
export const StoredBlob = z.object({ sha256: Sha256, size: z.int() })
export type StoredBlob = z.infer<typeof StoredBlob>

/** What an upload answers when more is missing: the next piece begins here. */
export const UploadProgress = z.object({ offset: z.int() })
export type UploadProgress = z.infer<typeof UploadProgress>

import { z } from 'zod'

/** Content is named by its SHA-256, in lower-case hexadecimal digits. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 has 64 hexadecimal digits, lower case')

const MAX_PATH_LENGTH = 1024

/** A place below some folder, written with `/`: relative, without `.` and `..`, so that joining it can never lead out. */
export function isInnerPath(path: string): boolean {
  if (path === '' || path.length > MAX_PATH_LENGTH || /[\0\\]/.test(path)) return false
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..')
}

export const InnerPath = z
  .string()
  .refine(isInnerPath, 'a path is relative, uses "/", and has no empty part, ".", ".." or backslash')

/** Archives that can be unpacked where a job starts. */
export const ARCHIVES = ['tar', 'tar.gz', 'zip'] as const

/** A file, or an archive to be unpacked, that is put into the job's folder before its program starts. `path` may be "." for an archive. */
export const InputFile = z.object({
  path: z.string(),
  sha256: z.string(),
  size: z.number(),
  unpack: z.enum(ARCHIVES).nullable(),
  executable: z.boolean(),
})
export type InputFile = Readonly<z.infer<typeof InputFile>>

/** A file a program left, collected by the globs of `outputs`; its name is data, never a path of the hub. */
export const ArtifactEntry = z.object({
  path: z.string(),
  sha256: z.string(),
  size: z.number(),
  executable: z.boolean(),
})
export type ArtifactEntry = Readonly<z.infer<typeof ArtifactEntry>>

export const MAX_ARTIFACTS = 10_000

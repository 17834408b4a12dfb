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
  size: z.int().min(0),
  executable: z.boolean(),
})
export type ArtifactEntry = Readonly<z.infer<typeof ArtifactEntry>>

export const MAX_ARTIFACTS = 10_000

/** What is wrong with a list of artifacts a worker names, in a sentence; null when it can be kept as it is. */
export function artifactIssue(entries: readonly ArtifactEntry[]): string | null {
  if (entries.length > MAX_ARTIFACTS)
    return `${entries.length} artifacts were named, an attempt has at most ${MAX_ARTIFACTS}`
  const paths = new Set<string>()
  for (const { path, sha256, size } of entries) {
    const name = JSON.stringify(path.slice(0, 100))
    if (!isInnerPath(path) || LONE_SURROGATE.test(path)) return `${name} was named as an artifact, but is no inner path`
    if (!Sha256.safeParse(sha256).success) return `the artifact ${name} was named without a SHA-256`
    if (!Number.isSafeInteger(size) || size < 0) return `the artifact ${name} was named with the size ${size}`
    if (paths.has(path)) return `the artifact ${name} was named twice`
    paths.add(path)
  }
  return null
}

/** Half of a character: no stored text can hold it. */
const LONE_SURROGATE = /\p{Surrogate}/u

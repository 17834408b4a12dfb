import { chmod, lstat, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Client } from '@stoker/client'
import { atOnce, sha256File } from '@stoker/files'
import { type Artifact, isInnerPath } from '@stoker/protocol'
import { Failure } from '../failure.ts'
import type { OutputOf } from '../output/schemas.ts'

export const AT_ONCE = 4

type Fetched = OutputOf<'artifacts get'>['files'][number]

export interface FetchOptions {
  readonly folder: string
  /** Marks files that are put beside another of the same name. */
  readonly mark: string
  readonly attempt?: number | undefined
  /** Files that may be replaced if they still have this content: they are what the job began with. */
  readonly sent?: ReadonlyMap<string, string> | null | undefined
  /** Replace whatever is there. */
  readonly overwrite?: boolean | undefined
}

/** Brings artifacts into a folder and never out of it; a file somebody changed is kept, and the new one put beside it. `onMore` hears of bytes as they come. */
export async function fetchArtifacts(
  client: Client,
  id: string,
  artifacts: readonly Artifact[],
  options: FetchOptions,
  onMore: (bytes: number) => void,
): Promise<readonly Fetched[]> {
  await mkdir(options.folder, { recursive: true })
  const fetched = await atOnce(AT_ONCE, artifacts, artifact => {
    let here = 0
    return fetchOne(client, id, artifact, options, bytes => {
      onMore(bytes - here)
      here = bytes
    })
  })
  return fetched.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function fetchOne(
  client: Client,
  id: string,
  artifact: Artifact,
  options: FetchOptions,
  onBytes: (bytes: number) => void,
): Promise<Fetched> {
  const { path, size, sha256 } = artifact
  const target = await placeFor(path, options.folder)
  const there = await lstat(target).catch(() => null)
  if (there?.isFile() === true && there.size === size && (await sha256File(target)) === sha256)
    return { path, file: target, size, how: 'same' }
  const mayReplace = there === null || options.overwrite === true || (await isAsSent(path, target, options))
  const file = mayReplace ? target : `${target}.${options.mark}`
  if (mayReplace && there?.isDirectory() === true)
    throw new Failure(`${path} should become a file, ${target} is a folder`, { code: 'files.taken' })
  const partial = join(dirname(target), `.stoker-${sha256.slice(0, 16)}.part`)
  await client.downloadArtifact(id, artifact, partial, { attempt: options.attempt, onBytes })
  await chmod(partial, artifact.executable ? 0o755 : 0o644)
  await rename(partial, file)
  return { path, file, size, how: mayReplace ? 'written' : 'beside' }
}

/** Names come from a program: each part must be a real folder below the target, a link could lead anywhere. */
async function placeFor(path: string, folder: string): Promise<string> {
  if (!isInnerPath(path))
    throw new Failure(`the artifact ${JSON.stringify(path)} has a name that leads out of ${folder}`, {
      code: 'files.unsafe',
    })
  let at = folder
  for (const part of path.split('/').slice(0, -1)) {
    at = join(at, part)
    await mkdir(at).catch(error => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(at)).isDirectory())
      throw new Failure(`${JSON.stringify(path)} should be put below ${folder}, ${at} is not a folder there`, {
        code: 'files.unsafe',
      })
  }
  return join(folder, path)
}

async function isAsSent(path: string, target: string, { sent }: FetchOptions): Promise<boolean> {
  const before = sent?.get(path)
  return before !== undefined && (await lstat(target)).isFile() && (await sha256File(target)) === before
}

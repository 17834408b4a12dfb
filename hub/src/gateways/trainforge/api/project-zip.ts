import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ArchiveRefused, mergeFolder, removeTree, unpackArchive, zipFolder } from '@stoker/files'
import { type InputFile, type JobRow, readSpec } from '@stoker/protocol'
import { ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'

type Ports = Pick<ConsumerContext, 'blobs' | 'scratch' | 'newId'>

export interface ProjectZip {
  readonly body: Readable
  /** Null: not known before it has been read. */
  readonly size: number | null
}

/** What a job starts with, as a zip: the very one that was uploaded, or one made of what came another way. */
export async function projectZip(ports: Ports, row: JobRow): Promise<ProjectZip> {
  const { files } = readSpec(row.spec)
  const [only, ...others] = files
  if (only === undefined) throw new ConsumerError(404, 'No project files', `job ${row.id} came without files`)
  const missing = await missingOf(ports, row.owner, files)
  if (missing !== null)
    throw new ConsumerError(404, 'No project files', `the content ${missing} of job ${row.id} is not kept any more`)
  if (others.length === 0 && only.path === '.' && only.unpack === 'zip')
    return {
      body: await ports.blobs.read({ owner: row.owner, sha256: only.sha256 }, 0, only.size - 1),
      size: only.size,
    }
  return { body: await madeZip(ports, row, files), size: null }
}

async function missingOf({ blobs }: Ports, owner: string, files: readonly InputFile[]): Promise<string | null> {
  for (const { sha256 } of files) if ((await blobs.find({ owner, sha256 })) === null) return sha256
  return null
}

/** The folder it is made in goes when the last byte was read, or nobody reads on. */
async function madeZip(ports: Ports, row: JobRow, files: readonly InputFile[]): Promise<Readable> {
  const folder = join(ports.scratch, ports.newId())
  const project = join(folder, 'project')
  try {
    await mkdir(project, { recursive: true, mode: 0o700 })
    for (const file of files) await place(ports, row.owner, file, folder, project)
    const zip = await zipFolder(project, row.submittedAt)
    zip.once('close', () => void removeTree(folder))
    return zip
  } catch (error) {
    await removeTree(folder)
    if (!(error instanceof ArchiveRefused)) throw error
    throw new ConsumerError(409, 'Project cannot be packed', error.message)
  }
}

async function place(ports: Ports, owner: string, file: InputFile, folder: string, project: string): Promise<void> {
  const target = join(project, file.path)
  await mkdir(file.unpack === null ? dirname(target) : target, { recursive: true })
  if (file.unpack === null) return bring(ports, owner, file, target)
  const [archive, fresh] = [join(folder, 'archive'), join(folder, 'fresh')]
  await bring(ports, owner, file, archive)
  await unpackArchive(archive, file.unpack, fresh)
  await mergeFolder(fresh, target)
  await removeTree(archive)
}

async function bring({ blobs }: Ports, owner: string, { sha256, size }: InputFile, into: string): Promise<void> {
  if (size === 0) await writeFile(into, '')
  else await pipeline(await blobs.read({ owner, sha256 }, 0, size - 1), createWriteStream(into, { mode: 0o600 }))
}

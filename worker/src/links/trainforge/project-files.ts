import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { packZip, removeTree, sha256File, unpackArchive } from '@stoker/files'
import { type Backoff, type ContentSend, retrying } from '@stoker/net'
import { type Fence, isInnerPath } from '@stoker/protocol'
import { HubAway, type HubCalls, isTemporary, TooLarge } from '../foreign/hub-calls.ts'
import { CannotStart } from '../foreign/talk.ts'
import type { Project } from './trainforge-job.ts'

const MAX_ZIP_BYTES = 2e9
const MAX_PROJECT_BYTES = 20e9
const MAX_REQUIREMENTS_BYTES = 64 * 1024
const STALL_MS = 60_000
/** With growing pauses: minutes of a hub that is away; it has just given us the job. */
const TRIES = 10
/** Only ids of this form were ever folders of a project. */
const FOLDER_ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

export interface ProjectPorts {
  readonly calls: HubCalls
  /** Where archives wait until their job has ended. */
  readonly folder: string
  /** Folders that hold projects by the id of their job, in the order they are looked through. */
  readonly localRoots: readonly string[]
  readonly backoff: Backoff
}

/** Where old nodes look for projects on their own disk. */
export function projectRoots(folder: string): readonly string[] {
  const below = ['api/storage/projects/projects', 'api/storage/projects', 'storage/projects']
  return [...below.map(path => join(folder, path)), '/tmp/trainforge']
}

/** The project of a job: from the hub, else from a folder of this machine, always as a copy of our own. */
export class ProjectFiles {
  readonly #ports: ProjectPorts

  constructor(ports: ProjectPorts) {
    this.#ports = ports
  }

  async fetch(number: number, id: string, signal: AbortSignal): Promise<Project> {
    await mkdir(this.#ports.folder, { recursive: true, mode: 0o700 })
    const part = this.#path(`${number}.part`)
    const answer = await this.#download(part, id, signal)
    if (answer !== 200 && !(await this.#packLocal(part, id)))
      throw new CannotStart(
        `its project is nowhere: the hub answered ${answer}, and none of ${this.#ports.localRoots.join(', ')} has it`,
      )
    if (!(await isZip(part))) throw new Error('its project should be a zip, the hub sent something else')
    const sha256 = await sha256File(part)
    const archive = this.#path(`${number}-${sha256}`)
    await rename(part, archive)
    return this.#look(number, archive, sha256)
  }

  /** Gives the runner what was fetched, by its hash, like any other content. */
  readonly contentOf = (fence: Fence, sha256: string): ContentSend => {
    const path = this.#path(`${fence.job}-${sha256}`)
    return async () => {
      const bytes = createReadStream(path)
      return { status: 200, header: () => null, text: async () => '', bytes }
    }
  }

  /** Whatever was kept for a job. */
  async remove(number: number): Promise<void> {
    const names = await readdir(this.#ports.folder).catch(() => [])
    for (const name of names) if (name.split(/[-.]/)[0] === String(number)) await removeTree(this.#path(name))
  }

  /** A file of this job's own beside its archive. */
  pathFor(number: number, name: string): string {
    return this.#path(`${number}-${name}`)
  }

  #path(name: string): string {
    return join(this.#ports.folder, name)
  }

  #download(file: string, id: string, signal: AbortSignal): Promise<number> {
    const { calls, backoff } = this.#ports
    const path = `/api/jobs/${encodeURIComponent(id)}/files`
    const once = async () => {
      const { status } = await calls.download({ path, timeoutMs: STALL_MS, signal }, file, MAX_ZIP_BYTES)
      if (isTemporary(status)) throw new HubAway(`its project was answered with ${status}`)
      return status
    }
    const isTemporaryError = (error: unknown) => !(error instanceof TooLarge)
    return retrying(once, { ...backoff, attempts: TRIES, signal, isTemporary: isTemporaryError })
  }

  /** The shared folder itself is never run in. */
  async #packLocal(file: string, id: string): Promise<boolean> {
    if (!FOLDER_ID.test(id)) return false
    for (const root of this.#ports.localRoots) {
      const folder = join(root, id)
      if (!(await isOwnFolder(folder))) continue
      await packZip(folder, await filesBelow(folder), file)
      return true
    }
    return false
  }

  async #look(number: number, archive: string, sha256: string): Promise<Project> {
    const look = this.#path(`${number}-look`)
    await removeTree(look)
    await unpackArchive(archive, 'zip', look, { maxBytes: MAX_PROJECT_BYTES })
    try {
      const files = new Set(await filesBelow(look))
      const requirements = await readFile(join(look, 'requirements.txt'), 'utf8').catch(() => null)
      if (requirements !== null && requirements.length > MAX_REQUIREMENTS_BYTES)
        throw new Error(`its requirements.txt has ${requirements.length} characters, at most ${MAX_REQUIREMENTS_BYTES}`)
      const { size } = await stat(archive)
      return { sha256, size, files, requirements: requirements?.trim() ? requirements : null }
    } finally {
      await removeTree(look)
    }
  }
}

/** A folder that someone else made, such as in /tmp, is not the hub's project. */
async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null)
  return found?.isDirectory() === true && [0, process.getuid?.() ?? found.uid].includes(found.uid)
}

/** Regular files only: a link in a shared folder could lead anywhere. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true })
  const files: string[] = []
  for (const path of entries) if (isInnerPath(path) && (await lstat(join(folder, path))).isFile()) files.push(path)
  return files
}

async function isZip(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return [FIRST_ENTRY, NO_ENTRY].includes(buffer.readUInt32LE(0))
  } finally {
    await handle.close()
  }
}

/** How a zip begins: with an entry, or, when it has none, with its end. */
const FIRST_ENTRY = 0x04034b50
const NO_ENTRY = 0x06054b50

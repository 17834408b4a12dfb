import { createWriteStream } from 'node:fs'
import { chmod, copyFile, cp, mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ArchiveRefused, hasCode, mergeFolder, removeTree, unlessAbsent, unpackArchive } from '@stoker/files'
import { type CustomScriptInput, type InputFile, isInnerPath, type JobSpec } from '@stoker/protocol'
import { readAttemptId } from './attempt-id.ts'
import type { TrainForgeContext } from './context.ts'
import { scriptName } from './runner-order.ts'

/** The script nodes are told to run, and the first one notebooks look for. */
export const SCRIPT = 'train.py'
const RUNNER = join(import.meta.dirname, 'trainforge-runner.py')

export interface Project {
  /** The attempt, as its worker knows it. */
  readonly id: string
  readonly owner: string
  readonly spec: JobSpec
  /** Where the runner calls, and with which token. */
  readonly url: string
  readonly token: string
}

/** The job itself is at fault: no other worker would fare better. */
export class BadProject extends Error {}

type Ports = Pick<TrainForgeContext, 'blobs' | 'fetchScript' | 'projects' | 'keepProjectsMs' | 'clock'>

/** Folders that workers run attempts in: the runner script, where it calls, and the job's files in `work`. */
export class Projects {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Whole when it resolves, in each of the places; not there before. */
  async prepare(project: Project): Promise<void> {
    const [first, ...others] = this.#ports.projects
    if (first === undefined) throw new Error('there is no folder for projects')
    const folder = join(first, project.id)
    const draft = join(first, `.${project.id}`)
    await Promise.all([draft, folder].map(removeTree))
    await mkdir(join(draft, 'work'), { recursive: true, mode: 0o700 })
    try {
      for (const [place, file] of project.spec.files.entries()) await this.#place(project, file, draft, place)
      await this.#placeScript(project.spec, join(draft, 'work'))
      const { url, token, id } = project
      await writeFile(join(draft, 'stoker.json'), `${JSON.stringify({ url, token, attempt: id })}\n`, { mode: 0o600 })
      await copyFile(RUNNER, join(draft, SCRIPT))
    } catch (error) {
      await removeTree(draft)
      throw error
    }
    for (const other of others) await copyFolder(draft, other, project.id)
    await rename(draft, folder)
  }

  /** Null when it is gone. */
  async folderOf(id: string): Promise<string | null> {
    const folder = join(this.#ports.projects[0] ?? '', id)
    return (await unlessAbsent(stat(folder))) === null ? null : folder
  }

  /** From here on its time is counted. */
  async ended(id: string): Promise<void> {
    const at = this.#ports.clock().wall / 1000
    for (const root of this.#ports.projects) await unlessAbsent(utimes(join(root, id), at, at))
  }

  /** Takes away folders of attempts that ended long enough ago; others' folders stay. */
  async sweep(isHeld: (id: string) => boolean): Promise<void> {
    const before = this.#ports.clock().wall - this.#ports.keepProjectsMs
    for (const root of this.#ports.projects) {
      for (const name of (await unlessAbsent(readdir(root))) ?? []) {
        const id = name.startsWith('.') ? name.slice(1) : name
        if (readAttemptId(id) === null || isHeld(id)) continue
        const found = await unlessAbsent(stat(join(root, name)))
        if (found !== null && found.mtimeMs <= before) await removeTree(join(root, name))
      }
    }
  }

  async #place({ owner }: Project, file: InputFile, draft: string, place: number): Promise<void> {
    const target = join(draft, 'work', file.path)
    if (file.path !== '.' && !isInnerPath(file.path)) throw new BadProject(`input ${quoted(file)} leads outside`)
    const content = join(draft, `input-${place}`)
    await this.#bring(owner, file, content)
    try {
      if (file.unpack === null) {
        await mkdir(dirname(target), { recursive: true })
        if ((await unlessAbsent(stat(target))) !== null) throw new ArchiveRefused('its place is taken')
        await rename(content, target)
        await chmod(target, file.executable ? 0o755 : 0o644)
        return
      }
      const fresh = join(draft, `unpack-${place}`)
      await unpackArchive(content, file.unpack, fresh)
      await removeTree(content)
      await mkdir(target, { recursive: true })
      await mergeFolder(fresh, target)
    } catch (cause) {
      if (hasCode(cause, 'ENOSPC')) throw cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new BadProject(`input ${quoted(file)} could not be put in place: ${reason}`, { cause })
    }
  }

  async #bring(owner: string, { sha256, size, path }: InputFile, into: string): Promise<void> {
    const { blobs } = this.#ports
    if ((await blobs.find({ owner, sha256 })) === null)
      throw new BadProject(`input ${quoted({ path })} is not stored at the hub any more`)
    if (size === 0) await writeFile(into, '')
    else await pipeline(await blobs.read({ owner, sha256 }, 0, size - 1), createWriteStream(into, { mode: 0o600 }))
  }

  async #placeScript(spec: JobSpec, work: string): Promise<void> {
    if (spec.type !== 'custom_script') return
    const { script, scriptUrl } = spec.input as CustomScriptInput
    const bytes = script ?? (await this.#ports.fetchScript(scriptUrl ?? '').catch(cause => refuseScript(cause)))
    await writeFile(join(work, scriptName(spec)), bytes)
  }
}

async function copyFolder(from: string, root: string, id: string): Promise<void> {
  const draft = join(root, `.${id}`)
  await Promise.all([draft, join(root, id)].map(removeTree))
  await mkdir(root, { recursive: true })
  await cp(from, draft, { recursive: true, verbatimSymlinks: true })
  await rename(draft, join(root, id))
}

function refuseScript(cause: unknown): never {
  throw new BadProject(`its script could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
  })
}

function quoted({ path }: Pick<InputFile, 'path'>): string {
  return JSON.stringify(path)
}

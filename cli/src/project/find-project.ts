import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { unlessAbsent } from '@stoker/files'
import {
  changeProject,
  gatherRequirements,
  gpuFramework,
  includedFiles,
  type Project,
  type ProjectChanges,
  readProject,
  type SpecIssue,
} from '@stoker/protocol'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { readSpecs } from '../spec/read-specs.ts'
import { isLeftOut } from './left-out.ts'

export const CONFIG_NAMES = ['trainforge.yaml', 'trainforge.yml'] as const
const MOST_SOURCES = 200
const MOST_SOURCE_BYTES = 256 * 1024

export interface ProjectPlace {
  /** Where the project lies (here). */
  readonly path?: string | undefined
  /** Its configuration (trainforge.yaml of its folder). */
  readonly config?: string | undefined
  readonly changes?: ProjectChanges | undefined
}

export interface FoundProject {
  readonly folder: string
  readonly project: Project
  readonly requirements: readonly string[]
  readonly framework: string | null
  readonly warnings: readonly string[]
}

/** Reads a project on this machine and checks that what its configuration names is there, before anything is sent. */
export async function findProject({ path = '.', config, changes = {} }: ProjectPlace, io: Io): Promise<FoundProject> {
  const folder = resolve(io.folder, path)
  const file = config === undefined ? await configIn(folder) : resolve(io.folder, config)
  const [found] = await readSpecs(file, io)
  const read = readProject(changeProject(found?.spec, changes))
  const placeOf = (issue: SpecIssue) => found?.place(issue.path.split(/[.[\]]+/).filter(part => part !== '')) ?? file
  if (!read.ok)
    throw wrong(
      file,
      read.issues.map(issue => `${placeOf(issue)}: ${issue.path}: ${issue.message}`),
    )
  const { project, warnings } = read
  await checkScript(project, folder, file)
  return {
    folder,
    project,
    warnings,
    requirements: await requirementsOf(project, folder),
    framework: project.resources.gpus === null ? await frameworkIn(folder) : null,
  }
}

async function configIn(folder: string): Promise<string> {
  for (const name of CONFIG_NAMES) if (await isFile(join(folder, name))) return join(folder, name)
  throw new Failure(`${folder} has no ${CONFIG_NAMES[0]}`, {
    exitCode: EXIT.usage,
    code: 'project.none',
    details: ['make one there:  stoker init', 'or name another:  stoker push --config FILE --path FOLDER'],
  })
}

async function checkScript({ program: { script } }: Project, folder: string, file: string): Promise<void> {
  if (script === null || (await isFile(join(folder, script)))) return
  throw wrong(file, [`the script is ${script}, ${folder} has no such file`])
}

async function requirementsOf({ requirements, packages }: Project, folder: string): Promise<readonly string[]> {
  if (requirements === null) return packages
  const { file, isNamed } = requirements
  if (!isNamed && !(await isFile(join(folder, file)))) return packages
  const texts = new Map<string, string | null>()
  for (const queue = [file]; queue.length > 0; ) {
    const next = queue.shift() ?? file
    if (texts.has(next)) continue
    const text = await unlessAbsent(readFile(join(folder, next), 'utf8'))
    texts.set(next, text)
    queue.push(...includedFiles(next, text ?? ''))
  }
  const gathered = gatherRequirements(file, path => texts.get(path) ?? null)
  if (!gathered.ok)
    throw wrong(
      file,
      gathered.issues.map(({ path, message }) => `${path}: ${message}`),
    )
  return [...gathered.lines, ...packages]
}

/** Only some sources are looked at: one import is enough, and a guess needs no certainty. */
async function frameworkIn(folder: string): Promise<string | null> {
  let left = MOST_SOURCES
  for (const queue = [folder]; queue.length > 0; ) {
    const at = queue.shift() ?? folder
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (isLeftOut(entry.name)) continue
      if (entry.isDirectory()) queue.push(join(at, entry.name))
      if (!entry.isFile() || !entry.name.endsWith('.py') || left === 0) continue
      left -= 1
      const { size } = await stat(join(at, entry.name))
      const found = size > MOST_SOURCE_BYTES ? null : gpuFramework(await readFile(join(at, entry.name), 'utf8'))
      if (found !== null) return found
    }
  }
  return null
}

async function isFile(path: string): Promise<boolean> {
  return (await unlessAbsent(stat(path)))?.isFile() === true
}

function wrong(file: string, details: readonly string[]): Failure {
  return new Failure(`${file} is not a valid project`, { exitCode: EXIT.usage, code: 'project.invalid', details })
}

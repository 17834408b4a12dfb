import { ArchiveRefused, lookIntoZip, type ZipLook } from '@stoker/files'
import {
  changeProject,
  gatherRequirements,
  gpuFramework,
  type JobSpec,
  type Project,
  parseJobSpec,
  projectSpecs,
  readProject,
  type SpecIssue,
} from '@stoker/protocol'
import type { State } from '../../../engine/state.ts'
import { badRequest } from './consumer-error.ts'
import type { TakenProject } from './take-project.ts'

/** Sources and requirements are read up to this; whatever lies behind it only makes a guess worse. */
const TEXT_BYTES = 4 * 1024 * 1024
/** Comes with the dialect's own word for the job's id. */
const LABELS = { dialect: 'trainforge' }

export interface ProjectJob {
  readonly project: Project
  /** In its image, where it has one. */
  readonly contained: JobSpec | null
  readonly plain: JobSpec
  readonly warnings: readonly string[]
}

/** What an uploaded project is as a job; everything wrong with it is refused before any of it is kept. */
export async function projectJob(
  { config, zip }: TakenProject,
  numWorkers: number | null,
  state: Pick<State, 'workers'>,
): Promise<ProjectJob> {
  const read = readProject(changeProject(config, { workers: numWorkers ?? undefined }))
  if (!read.ok) throw invalid(read.issues)
  const { project, warnings } = read
  const look = await lookInto(zip.file)
  checkScript(project, look)
  const specs = projectSpecs(project, {
    archive: { sha256: zip.sha256, size: zip.size, unpack: 'zip' },
    requirements: requirementsOf(project, look),
    framework: frameworkOf(look),
    pythons: pythonsOf(state),
    labels: LABELS,
    mayContain: true,
  })
  return {
    project,
    contained: specs.contained === null ? null : parsed(specs.contained),
    plain: parsed(specs.plain),
    warnings: [...warnings, ...specs.warnings],
  }
}

async function lookInto(file: string): Promise<ZipLook> {
  try {
    return await lookIntoZip(file, path => /\.(py|txt)$/.test(path), { textBytes: TEXT_BYTES })
  } catch (error) {
    if (error instanceof ArchiveRefused) throw badRequest(`"project_zip": ${error.message}`)
    throw error
  }
}

function checkScript({ program: { script } }: Project, { files }: ZipLook): void {
  if (script === null || files.has(script)) return
  const near = [...files].filter(path => path.endsWith('.py')).slice(0, 5)
  const has = near.length === 0 ? 'no Python file at all' : near.map(path => JSON.stringify(path)).join(', ')
  throw badRequest(`the configuration names the script ${JSON.stringify(script)}, the zip has ${has}`)
}

function requirementsOf({ requirements, packages }: Project, { files, texts }: ZipLook): readonly string[] {
  if (requirements === null || (!requirements.isNamed && !files.has(requirements.file))) return packages
  const gathered = gatherRequirements(requirements.file, path => texts.get(path) ?? null)
  if (!gathered.ok) throw invalid(gathered.issues)
  return [...gathered.lines, ...packages]
}

function frameworkOf({ texts }: ZipLook): string | null {
  for (const [path, text] of texts) {
    const found = path.endsWith('.py') ? gpuFramework(text) : null
    if (found !== null) return found
  }
  return null
}

function pythonsOf({ workers }: Pick<State, 'workers'>): readonly string[] {
  const versions = [...workers.values()].flatMap(({ facts }) => facts.hardware.pythons.map(({ version }) => version))
  return [...new Set(versions.map(version => version.split('.').slice(0, 2).join('.')))]
}

function parsed(spec: unknown): JobSpec {
  const found = parseJobSpec(spec)
  if (found.ok) return found.spec
  throw invalid(found.issues)
}

function invalid(issues: readonly SpecIssue[]) {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return badRequest(`${first?.path}: ${first?.message}${more}`, { details: issues })
}

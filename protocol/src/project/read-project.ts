import { isInnerPath } from '../artifact.ts'
import type { SpecIssue } from '../spec-issues.ts'
import { type ConfigMap, type ConfigNotes, countAt, isMap, listAt, mapAt, refuse, textAt } from './config-notes.ts'
import type { Project, ProjectProgram } from './project.ts'
import { hyperparameterEnv, readEnvironment, readPackages } from './read-environment.ts'
import { readOutputs } from './read-outputs.ts'
import { readResources, USUAL } from './read-resources.ts'
import { parseInstall, parseRun } from './run-line.ts'

export const USUAL_SCRIPT = 'train.py'
export const USUAL_REQUIREMENTS = 'requirements.txt'
const SECTIONS = ['project', 'training', 'resources', 'environment', 'hyperparameters', 'tracking', 'artifacts']
const FLAT = ['name', 'description', 'version', 'install', 'setup_command', 'run', 'command']
const SHARED = ['resources', 'environment', 'hyperparameters', 'tracking', 'artifacts', 'distributed']
const NAME_LENGTH = 200

export type ReadProject =
  | { readonly ok: true; readonly project: Project; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly issues: readonly SpecIssue[]; readonly warnings: readonly string[] }

/** Reads the three forms of trainforge.yaml, already parsed, into one model; everything wrong is found in one go. */
export function readProject(config: unknown): ReadProject {
  const notes: ConfigNotes = { issues: [], warnings: [] }
  const project = isMap(config) ? readMap(notes, config) : refuse(notes, '(whole)', config, 'a map of keys')
  const { issues, warnings } = notes
  return project === null || issues.length > 0 ? { ok: false, issues, warnings } : { ok: true, project, warnings }
}

function readMap(notes: ConfigNotes, config: ConfigMap): Project {
  return 'project' in config || 'training' in config ? readSections(notes, config) : readFlat(notes, config)
}

function readSections(notes: ConfigNotes, config: ConfigMap): Project {
  mapAt(notes, config, '', [...SECTIONS, 'distributed'])
  const { name } = mapAt(notes, config.project, 'project', ['name', 'description', 'version'])
  const training = mapAt(notes, config.training, 'training', [
    'script',
    'requirements',
    'type',
    'framework',
    'resources',
  ])
  const isNested = training.resources !== undefined && config.resources === undefined
  const resources = isNested
    ? readResources(notes, training.resources, 'training.resources', USUAL)
    : readResources(notes, config.resources, 'resources', USUAL)
  const script = textAt(notes, training.script, 'training.script') ?? USUAL_SCRIPT
  const isList = Array.isArray(training.requirements)
  const file = isList ? null : textAt(notes, training.requirements, 'training.requirements')
  return {
    form: isNested ? 'B' : 'A',
    name: readName(notes, name, 'project.name'),
    program: checkedScript(notes, { script, args: [] }, 'training.script'),
    setup: null,
    requirements: requirementsOf(notes, file, 'training.requirements'),
    resources,
    ...readShared(notes, config, isList ? readPackages(notes, training.requirements, 'training.requirements') : []),
  }
}

function readFlat(notes: ConfigNotes, config: ConfigMap): Project {
  mapAt(notes, config, '', [...FLAT, ...SHARED])
  const [path, line] = firstOf(notes, config, 'run', 'command')
  if (line === null)
    notes.issues.push({ path, message: 'missing; a project has "project" and "training", or "name" and "run"' })
  const [installPath, installLine] = firstOf(notes, config, 'install', 'setup_command')
  const install = installLine === null ? null : parseInstall(installLine)
  return {
    form: 'C',
    name: readName(notes, config.name, 'name'),
    program: checkedScript(notes, parseRun(line ?? USUAL_SCRIPT), path),
    setup: install?.kind === 'command' ? install.line : null,
    requirements:
      install === null || install.kind === 'file' ? requirementsOf(notes, install?.file ?? null, installPath) : null,
    resources: readResources(notes, config.resources, 'resources', {
      ...USUAL,
      gpus: config.resources === undefined ? null : USUAL.gpus,
    }),
    ...readShared(notes, config, install?.kind === 'packages' ? install.packages : []),
  }
}

type Shared = Omit<Project, 'form' | 'name' | 'program' | 'setup' | 'requirements' | 'resources'>

function readShared(notes: ConfigNotes, config: ConfigMap, packages: readonly string[]): Shared {
  const environment = readEnvironment(notes, config.environment)
  const tracking = mapAt(notes, config.tracking, 'tracking', ['metrics', 'artifacts'])
  for (const [index, metric] of listAt(tracking.metrics).entries()) textAt(notes, metric, `tracking.metrics[${index}]`)
  return {
    config,
    packages: [...packages, ...environment.packages],
    python: environment.python,
    image: environment.image,
    env: { ...hyperparameterEnv(notes, config.hyperparameters), ...environment.env },
    outputs: readOutputs(notes, { artifacts: config.artifacts, 'tracking.artifacts': tracking.artifacts }),
    ...readDistributed(notes, config.distributed),
  }
}

/** Modes that mean one process. */
const ALONE: readonly string[] = ['none', 'single', 'disabled', 'off', 'false']

function readDistributed(notes: ConfigNotes, value: unknown): Pick<Project, 'workers' | 'retries' | 'timeoutSeconds'> {
  const { mode, max_workers: most, tasks } = mapAt(notes, value, 'distributed', ['mode', 'max_workers', 'tasks'])
  const given = mapAt(notes, tasks, 'distributed.tasks', ['retry_count', 'timeout_seconds'])
  const isAlone = ALONE.includes(String(mode ?? '').toLowerCase())
  const workers = countAt(notes, most, 'distributed.max_workers')
  return {
    workers: isAlone ? 1 : Math.max(1, workers ?? 1),
    retries: countAt(notes, given.retry_count, 'distributed.tasks.retry_count'),
    timeoutSeconds: countAt(notes, given.timeout_seconds, 'distributed.tasks.timeout_seconds') || null,
  }
}

/** The first of two keys that mean the same, with its path. */
function firstOf(notes: ConfigNotes, config: ConfigMap, key: string, other: string): [string, string | null] {
  const used = config[key] === undefined && config[other] !== undefined ? other : key
  return [used, textAt(notes, config[used], used)]
}

function readName(notes: ConfigNotes, value: unknown, path: string): string {
  if (value === undefined || value === null) notes.issues.push({ path, message: 'missing; a project has a name' })
  const name = textAt(notes, value, path) ?? ''
  if (name.length > NAME_LENGTH) refuse(notes, path, name, `at most ${NAME_LENGTH} characters`)
  return name
}

function checkedScript(notes: ConfigNotes, program: ProjectProgram, path: string): ProjectProgram {
  if (program.script === null) return program
  const script = program.script.replace(/^(\.\/)+/, '')
  if (!isInnerPath(script) || script.startsWith('-')) refuse(notes, path, script, 'a path below the project')
  return { ...program, script }
}

function requirementsOf(notes: ConfigNotes, named: string | null, path: string): Project['requirements'] {
  const file = (named ?? USUAL_REQUIREMENTS).replace(/^(\.\/)+/, '')
  if (!isInnerPath(file)) refuse(notes, path, named, 'a path below the project')
  return { file, isNamed: file !== USUAL_REQUIREMENTS }
}

import type { z } from 'zod'
import type { InputFile } from '../artifact.ts'
import type { JobSpecInput } from '../spec-input.ts'
import type { Project } from './project.ts'

/** What of a project only its files and the fleet tell. */
export interface ProjectFacts {
  /** All of the project, to be unpacked where the program starts. */
  readonly archive: Pick<InputFile, 'sha256' | 'size' | 'unpack'>
  /** Lines for pip, of its requirements file and of its configuration. */
  readonly requirements: readonly string[]
  /** A GPU framework its sources use; null for none. */
  readonly framework: string | null
  /** Versions of Python, like "3.11", that workers have. */
  readonly pythons: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** False: not in its image, even where that would be possible. */
  readonly mayContain: boolean
}

type Spec = z.input<typeof JobSpecInput>

export interface ProjectSpecs {
  /** The same project in its image, for where a worker can run that; null if it has none. */
  readonly contained: Spec | null
  readonly plain: Spec
  readonly warnings: readonly string[]
}

/** A project as a job, in its image and without: which of the two is submitted depends on what workers can do. */
export function projectSpecs(project: Project, facts: ProjectFacts): ProjectSpecs {
  const warnings: string[] = []
  const gpus = project.resources.gpus ?? guessGpus(facts.framework, warnings)
  const processes = project.workers * Math.max(1, gpus)
  const shared = {
    name: project.name,
    input: project.config as NonNullable<Spec['input']>,
    env: project.env,
    resources: sizeOf(project, gpus),
    files: [{ path: '.', ...archiveOf(facts) }],
    outputs: [...project.outputs],
    labels: { project: project.name, ...facts.labels },
    ...(processes === 1 ? {} : { ranks: processes === project.workers * gpus ? ('gpus' as const) : processes }),
    ...(project.retries === null ? {} : { retries: Math.min(project.retries, MOST_RETRIES) }),
    ...(project.timeoutSeconds === null ? {} : { timeout: project.timeoutSeconds }),
  } satisfies Spec
  const contained = containedSpec(project, facts, shared, processes, warnings)
  return { contained, plain: { ...shared, ...plainParts(project, facts, warnings) }, warnings }
}

const MOST_RETRIES = 100

function guessGpus(framework: string | null, warnings: string[]): number {
  const gpus = framework === null ? 0 : 1
  const because = framework === null ? 'its sources use no GPU framework' : `its sources import ${framework}`
  warnings.push(`no resources are given: ${gpus} GPU${gpus === 1 ? '' : 's'}, because ${because}`)
  return gpus
}

/** So many workers of that size, on one machine. */
function sizeOf({ resources: { cpus, memoryBytes }, workers }: Project, gpus: number): NonNullable<Spec['resources']> {
  return { gpus: gpus * workers, cpus: cpus * workers, memory: memoryBytes * workers }
}

function archiveOf({ archive: { sha256, size, unpack } }: ProjectFacts) {
  return { sha256, size, ...(unpack === null ? {} : { unpack }) }
}

/** As a process: packages come from an environment the worker makes once and keeps. */
function plainParts(project: Project, facts: ProjectFacts, warnings: string[]): Partial<Spec> {
  const { program, setup, python } = project
  const { requirements, pythons } = facts
  const wanted = python !== null && pythons.includes(python) ? python : null
  if (python !== null && wanted === null) {
    const has = pythons.length === 0 ? 'tell none' : `have ${[...new Set(pythons)].join(', ')}`
    warnings.push(`environment.python_version is "${python}", workers ${has}: without its image it runs with theirs`)
  }
  const needsPython = program.script === null && /\bpython\b/.test(program.shell)
  const hasEnvironment = requirements.length > 0 || wanted !== null || needsPython
  return {
    command: commandOf(program, setup),
    ...(setup === null ? {} : { network: 'internet' as const }),
    ...(hasEnvironment
      ? { environment: { requirements: [...requirements], ...(wanted === null ? {} : { python: wanted }) } }
      : {}),
  }
}

function commandOf(program: Project['program'], setup: string | null): NonNullable<Spec['command']> {
  if (program.script === null) return setup === null ? program.shell : `${setup}\n${STOP_ON_FAILURE}${program.shell}`
  const words = ['python3', program.script, ...program.args]
  return setup === null ? words : ['sh', '-c', `${setup}\n${STOP_ON_FAILURE}exec "$@"`, 'sh', ...words]
}

/** After a setup line that may itself be several. */
const STOP_ON_FAILURE = '[ $? -eq 0 ] || exit 1\n'
const INSTALL = [
  'printf "%s\\n" "$STOKER_REQUIREMENTS" > .stoker-requirements.txt',
  'python3 -m pip install --no-cache-dir --target .stoker-packages -r .stoker-requirements.txt || exit 1',
  'export PYTHONPATH="$PWD/.stoker-packages:$PYTHONPATH"',
].join('\n')

/** In a container no environment is kept: what its image lacks is installed at every start. */
function containedSpec(
  { image, program, setup }: Project,
  { requirements, mayContain }: ProjectFacts,
  shared: Spec,
  processes: number,
  warnings: string[],
): Spec | null {
  if (image === null || !mayContain) return null
  if (requirements.length === 0 && setup === null) return { ...shared, image, command: commandOf(program, null) }
  if (processes > 1) {
    warnings.push(`${image} is not used: ${processes} processes cannot each install requirements into it`)
    return null
  }
  const steps = [...(requirements.length === 0 ? [] : [INSTALL]), ...(setup === null ? [] : [setup])].join('\n')
  const env = requirements.length === 0 ? shared.env : { ...shared.env, STOKER_REQUIREMENTS: requirements.join('\n') }
  return {
    ...shared,
    ...(env === undefined ? {} : { env }),
    image,
    network: 'internet',
    command: commandOf(program, steps),
  }
}

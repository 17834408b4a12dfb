import { join } from 'node:path'
import { isProgramType, type JobSpec, type Offer } from '@stoker/protocol'
import { choosePython, type Python } from '../environments/environment-key.ts'
import type { EnvironmentStore } from '../environments/environment-store.ts'
import type { Program, Programs } from '../programs/find-programs.ts'
import { type BringPorts, type BringWatch, steps } from './bring.ts'
import { Declined } from './declined.ts'
import type { SetUpLog } from './set-up-log.ts'
import { unlessSilent } from './unless-silent.ts'

/** A package takes as long as it takes, but not without a byte or a word for this long. */
const STALL_MS = 300_000

/** What this machine has for programs in Python. */
export interface ProgramSupply {
  /** Where all of them are: it is shown to each, with what they share. */
  readonly folder: string
  readonly programs: Programs
  readonly environments: EnvironmentStore
  readonly pythons: readonly Python[]
}

/** The Python a program is started with, and what it needs to be seen for that. */
export interface Interpreter {
  readonly path: string
  readonly visiblePaths: readonly string[]
  /** The virtual environment, if it is of one. */
  readonly environment: string | null
}

/** The program of the job's type; null for a type that has none of its own. */
export function programOf({ type }: JobSpec, supply: ProgramSupply | undefined): Program | null {
  if (!isProgramType(type)) return null
  const program = supply?.programs.get(type)
  if (program === undefined) throw new Declined(`the job is of type ${type}, this worker brings no program for it`)
  return program
}

/** What the job's program needs besides Python; an image brings it along. */
export function requirementsOf(spec: JobSpec, program: Program | null): string {
  if (spec.container !== null) return ''
  return [program?.requirements ?? '', spec.environment?.requirements ?? ''].filter(Boolean).join('\n')
}

/** The interpreter for a job, with the packages it needs, installed first where they are not. */
export async function bringInterpreter(
  offer: Offer,
  folder: string,
  program: Program | null,
  own: Pick<Python, 'path' | 'prefix'> | null,
  { supply, log, ...ports }: BringPorts & { readonly supply: ProgramSupply | undefined; readonly log: SetUpLog },
  watch: BringWatch,
): Promise<Interpreter | null> {
  const { spec } = offer
  const requirements = requirementsOf(spec, program)
  const asked = spec.environment?.python ?? null
  if (requirements === '' && asked === null) return own === null ? null : plain(own)
  const python = choosePython(supply?.pythons ?? [], asked)
  if (python === null || supply === undefined) throw new Declined(noPython(asked, supply))
  if (requirements === '') return plain(python)
  const step = steps(offer, ports, watch)
  try {
    const environment = await unlessSilent(
      { what: 'the installation of its packages', ms: STALL_MS, signal: watch.signal },
      (signal, stillMoves) =>
        supply.environments.hold({ requirements, python }, folder, {
          signal,
          onOutput: (file, bytes) => {
            stillMoves()
            watch.alive()
            log.follow(file, bytes)
          },
          onProgress: progress => {
            stillMoves()
            step.begin('installing packages')
            step.show(progress)
          },
        }),
    )
    const visiblePaths = [environment, ...plain(python).visiblePaths]
    return { path: join(environment, 'bin', 'python'), environment, visiblePaths }
  } finally {
    step.over()
  }
}

/** What is below /usr every program sees. */
function plain({ path, prefix }: Pick<Python, 'path' | 'prefix'>): Interpreter {
  return { path, visiblePaths: prefix.startsWith('/usr') ? [] : [prefix], environment: null }
}

function noPython(asked: string | null, supply: ProgramSupply | undefined): string {
  const has = supply?.pythons.map(({ version }) => version).join(', ') || 'none'
  return `the job needs Python ${asked ?? 'with packages of its own'}, this worker has ${has}`
}

import type { Log } from '@stoker/files'
import type { Abilities } from '@stoker/protocol'
import type { WorkerConfig } from './config.ts'
import { probeSandbox } from './executors/probe-sandbox.ts'
import type { EngineState } from './probe/engine/engine-watch.ts'
import type { ProgramBoard } from './programs/program-board.ts'

/** What does not change while the worker runs: whether programs can run, and how far they are kept apart. */
export async function programAbilities(
  config: Pick<WorkerConfig, 'allowUnsandboxed' | 'allowHostNetwork'>,
  python: string | null,
  log: Log,
): Promise<Abilities> {
  if (python === null) {
    const note = 'no Python 3.10 or newer was found: inline types only'
    log('warn', note)
    return { executors: ['inline'], sandbox: false, unsandboxed: false, internet: false, hostNetwork: false, note }
  }
  const sandbox = await probeSandbox({ python })
  const note = sandbox.works ? null : `no sandbox: ${sandbox.why}`
  if (!sandbox.works)
    log(
      'warn',
      `${note}; ${config.allowUnsandboxed ? 'programs run unsandboxed, as its owner allowed' : 'programs are refused unless --allow-unsandboxed is given'}`,
    )
  return {
    executors: ['inline', 'process'],
    sandbox: sandbox.works,
    unsandboxed: config.allowUnsandboxed,
    internet: sandbox.works && sandbox.internet,
    hostNetwork: config.allowHostNetwork,
    note,
  }
}

/** With the engine as it is now. Containers run under keepers too, so without Python there are none. */
function withEngine(programs: Abilities, { containers, note }: EngineState): Abilities {
  if (!programs.executors.includes('process')) return programs
  const notes = [programs.note, note].filter(one => one !== null).join('; ')
  const all = { ...programs, note: notes === '' ? null : notes }
  return containers === null ? all : { ...all, containers }
}

/** As they are now. Every job asks: they are made anew only when the engine or the programs have changed. */
export function abilitiesNow(
  fixed: Abilities,
  engineNow: () => EngineState,
  programsNow: () => ProgramBoard['latest'],
): () => Abilities {
  let last: { engine: EngineState; programs: ProgramBoard['latest']; abilities: Abilities } | null = null
  return () => {
    const [engine, programs] = [engineNow(), programsNow()]
    if (last === null || last.engine !== engine || last.programs !== programs)
      last = { engine, programs, abilities: withPrograms(withEngine(fixed, engine), programs) }
    return last.abilities
  }
}

/** With the programs that come along, and the packages that are installed. */
function withPrograms(abilities: Abilities, { types, environments }: ProgramBoard['latest']): Abilities {
  return {
    ...abilities,
    ...(Object.keys(types).length === 0 ? {} : { types }),
    ...(environments.length === 0 ? {} : { environments }),
  }
}

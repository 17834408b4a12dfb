import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Abilities, type Finding, type Hardware, PROGRAM_TYPES, type TypeAbility } from '@stoker/protocol'
import { programAbilities } from '../abilities.ts'
import { buildMeans } from '../environments/build-means.ts'
import { environmentKey } from '../environments/environment-key.ts'
import { Shelf } from '../environments/shelf.ts'
import { BUNDLED_PROGRAMS } from '../open-programs.ts'
import { probeMachine } from '../probe/index.ts'
import { findPrograms, type Programs } from '../programs/find-programs.ts'
import { ProgramBoard } from '../programs/program-board.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Which types of programs a worker with this data folder could run, and why not the others. */
export async function examineTypes(data: string, env: Env): Promise<Finding[]> {
  const programs = await findPrograms(BUNDLED_PROGRAMS, () => {})
  if (programs.size === 0) return []
  const hardware = await probeMachine({ folder: nearestExisting(data), simulateGpus: null, env })
  const able = { allowUnsandboxed: false, allowHostNetwork: false }
  const abilities = await programAbilities(able, hardware.pythons[0]?.path ?? null, () => {})
  const types = await statesOf(programs, hardware, abilities, data, env)
  return PROGRAM_TYPES.flatMap(type => {
    const ability = types[type]
    return ability === undefined ? [] : [findingOf(type, ability)]
  })
}

async function statesOf(
  programs: Programs,
  hardware: Hardware,
  abilities: Abilities,
  data: string,
  env: Env,
): Promise<Readonly<Record<string, TypeAbility>>> {
  const shelf = new Shelf(join(data, 'environments'))
  const board = new ProgramBoard({
    ...{ programs, hardware, folder: nearestExisting(data), intervalMs: 1e9, changed: () => {} },
    packages: { has: wish => shelf.has(environmentKey(wish)), failureOf: () => null, shelf },
    python: hardware.pythons[0] ?? null,
    abilities: () => abilities,
    means: () => buildMeans(abilities, env),
  })
  await board.look()
  await board.stop()
  return board.latest.types
}

/** That a machine has no GPU is nothing wrong with it; that nothing can be installed may be. */
function findingOf(type: string, { state, reason }: TypeAbility): Finding {
  const text = reason === null ? state : `${state}: ${reason}`
  const isCurable = state === 'impossible' && /network|installed|disk/.test(reason ?? '')
  const todo = state === 'installable' ? `install now: stoker env warm ${type}` : null
  return { check: `type ${type}`, level: isCurable ? 'warn' : 'ok', text, todo: isCurable ? 'see above' : todo }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder))
}

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
export async function examineTypes(data: string, env: Env, folder = BUNDLED_PROGRAMS): Promise<Finding[]> {
  const programs = await findPrograms(folder, () => {})
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

/** That a machine has no GPU is nothing wrong with it; that its disk is full or nothing can be installed may be. */
function findingOf(type: string, { state, reason }: TypeAbility): Finding {
  const text = reason === null ? state : `${state}: ${reason}`
  const cure = state === 'impossible' ? cureOf(reason ?? '') : null
  const todo = state === 'installable' ? `install now: stoker env warm ${type}` : cure
  return { check: `type ${type}`, level: cure === null ? 'ok' : 'warn', text, todo }
}

function cureOf(reason: string): string | null {
  if (/ of disk, /.test(reason)) return 'make room: stoker env prune; or put the data elsewhere with --data'
  return /network|installed/.test(reason) ? 'see network and sandbox above' : null
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder))
}

import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '@stoker/files'
import type { Abilities, Hardware } from '@stoker/protocol'
import type { WorkerConfig } from './config.ts'
import { buildMeans } from './environments/build-means.ts'
import { EnvironmentStore } from './environments/environment-store.ts'
import type { Executor } from './executors/port.ts'
import { findPrograms } from './programs/find-programs.ts'
import { ProgramBoard } from './programs/program-board.ts'
import { shareTree } from './programs/share-tree.ts'
import type { ProgramSupply } from './run/bring-environment.ts'

/** Others may install packages too: `stoker env warm`, or another worker that shares the folder. */
const LOOK_MS = 15_000
export const BUNDLED_PROGRAMS = fileURLToPath(new URL('./jobs', import.meta.url))

export interface ProgramGround {
  readonly config: Pick<WorkerConfig, 'environmentsFolder' | 'environmentBytes' | 'programsFolder' | 'env'>
  readonly folder: string
  readonly executor: Executor | null
  readonly hardware: Hardware
  /** What this worker can do apart from its programs. */
  readonly abilities: () => Abilities
  readonly changed: () => void
  readonly log: Log
}

/** The programs of job types and their packages, and what of them this machine can run. */
export async function openPrograms(
  ground: ProgramGround,
): Promise<{ readonly supply: ProgramSupply | undefined; readonly board: ProgramBoard }> {
  const { config, executor, hardware, abilities, changed, log } = ground
  const folder = resolve(config.programsFolder ?? BUNDLED_PROGRAMS)
  await shareTree(folder)
  const programs = await findPrograms(folder, text => log('warn', text))
  const means = () => buildMeans(abilities(), config.env)
  const environments =
    executor === null
      ? null
      : await EnvironmentStore.open({
          folder: environmentsFolder(config, ground.folder),
          limitBytes: config.environmentBytes,
          executor,
          means,
          now: Date.now,
          changed: () => void board.look(),
        })
  const board = new ProgramBoard({
    programs,
    packages: environments,
    python: hardware.pythons[0] ?? null,
    hardware,
    folder: ground.folder,
    abilities,
    means,
    changed,
    intervalMs: LOOK_MS,
  })
  await board.look()
  const supply = environments === null ? undefined : { folder, programs, environments, pythons: hardware.pythons }
  return { supply, board }
}

export function environmentsFolder(
  { environmentsFolder }: Pick<WorkerConfig, 'environmentsFolder'>,
  data: string,
): string {
  return resolve(environmentsFolder ?? join(data, 'environments'))
}

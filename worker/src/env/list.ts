import type { EnvironmentList } from '@stoker/protocol'
import { environmentKey, type Python } from '../environments/environment-key.ts'
import { Shelf } from '../environments/shelf.ts'
import { listWheels } from '../environments/wheel-store.ts'
import type { Programs } from '../programs/find-programs.ts'

/** What is installed, most recently used first, and which programs it serves. */
export async function listEnvironments(
  folder: string,
  limitBytes: number,
  programs: Programs,
  python: Python | null,
): Promise<EnvironmentList> {
  const shelf = new Shelf(folder)
  const wheels = await listWheels(shelf.wheels)
  const typesOf = (key: string) =>
    [...programs.values()]
      .filter(({ requirements }) => python !== null && environmentKey({ requirements, python }) === key)
      .map(({ type }) => type)
  return {
    folder,
    limitBytes,
    wheels: { count: wheels.length, bytes: wheels.reduce((sum, { bytes }) => sum + bytes, 0) },
    environments: (await shelf.list()).toReversed().map(({ holders, usedAt, ...facts }) => ({
      ...facts,
      usedAt: new Date(usedAt).toISOString(),
      inUse: holders,
      types: typesOf(facts.key),
    })),
  }
}

import { createMemoryTables } from '../store/memory/tables.ts'
import { difference } from '../verify/difference.ts'
import { dump } from './dump.ts'
import { Recovering } from './recover.ts'
import type { State } from './state.ts'
import type { TestHouse } from './test-house.ts'

/** The first place where the state that the rows of a house give differs from its own; null if a restart changes nothing. */
export function lostByRestart(house: TestHouse): string | null {
  return difference(dump(house.state), dump(restarted(house)))
}

/** What a hub that starts on the rows of a house knows. */
export function restarted(house: TestHouse): State {
  const tables = createMemoryTables()
  for (const { commit } of house.journal) tables.applyCommit(commit)
  const recovering = new Recovering()
  const rows = tables.recover(recovering.visit)
  return recovering.finish(rows, house.now)
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OutputIndex } from '../port.ts'
import { type Layout, packNumbers } from './layout.ts'
import { removeIfOrphan } from './sweep-segments.ts'

/** Packs that are kept grow old together: behind this many in a row that are still needed, all are. */
const KEPT_IN_A_ROW = 20

/** Removes packs whose attempts have all been forgotten, the oldest first; also those a crash left behind. */
export async function removeOldPacks(layout: Layout, index: OutputIndex): Promise<void> {
  let kept = 0
  for (const pack of await packNumbers(layout)) {
    kept = (await removeIfOrphan(layout, pack, index)) ? 0 : kept + 1
    if (kept === KEPT_IN_A_ROW) return
    await nextTurn()
  }
}

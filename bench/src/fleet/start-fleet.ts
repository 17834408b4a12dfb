import { fileURLToPath } from 'node:url'
import { type Child, startChild } from '../processes/child.ts'
import type { Hub } from '../servers/stoker.ts'

const DRIVER = fileURLToPath(new URL('./driver.ts', import.meta.url))

/** So many connected workers from one process, the first of them with this number; resolves when all are welcome. */
export function startFleet(hub: Hub, count: number, first = 0): Promise<Child> {
  return startChild({
    name: `a fleet of ${count} workers`,
    command: process.execPath,
    args: ['--import', 'tsx', DRIVER, hub.url, hub.token, String(first), String(count)],
    ready: /^ready$/,
  })
}

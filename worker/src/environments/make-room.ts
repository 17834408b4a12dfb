import { countHolders } from './holders.ts'
import { type LockWait, lockKey } from './key-lock.ts'
import type { Shelf, Shelved } from './shelf.ts'
import { listWheels, removeWheel, type Wheel } from './wheel-store.ts'

export interface Removed {
  readonly environments: readonly string[]
  readonly wheels: number
  readonly bytes: number
}

/** Takes away what was not used for longest until the rest is within the limit. What is in use stays, so that alone may be above it. */
export async function makeRoom(shelf: Shelf, limitBytes: number, wait: LockWait = {}): Promise<Removed> {
  const [environments, wheels] = [await shelf.list(), await listWheels(shelf.wheels)]
  const all = [...environments, ...wheels].toSorted((a, b) => a.usedAt - b.usedAt)
  let excess = all.reduce((sum, { bytes }) => sum + bytes, 0) - limitBytes
  const gone = { environments: [] as string[], wheels: 0, bytes: 0 }
  for (const one of all) {
    if (excess <= 0) break
    if (!(await remove(shelf, one, wait))) continue
    excess -= one.bytes
    gone.bytes += one.bytes
    if (isEnvironment(one)) gone.environments.push(one.key)
    else gone.wheels += 1
  }
  return gone
}

async function remove(shelf: Shelf, one: Shelved | Wheel, wait: LockWait): Promise<boolean> {
  if (!isEnvironment(one)) {
    await removeWheel(one)
    return true
  }
  if (one.holders > 0) return false
  const lock = await lockKey(shelf.locks, one.key, wait)
  try {
    if (!shelf.has(one.key) || (await countHolders(shelf.holdersOf(one.key))) > 0) return false
    await shelf.remove(one.key)
    return true
  } finally {
    await lock.release()
  }
}

function isEnvironment(one: Shelved | Wheel): one is Shelved {
  return 'key' in one
}

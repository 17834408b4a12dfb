import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sha256, writeAtomic } from '@stoker/files'
import type { Clock } from './clock.ts'
import type { Core } from './engine/core.ts'
import type { EngineLoop } from './engine/loop.ts'
import { Recovering } from './engine/recover.ts'
import type { State } from './engine/state.ts'
import { newId } from './new-id.ts'
import type { Store } from './store/port.ts'

export async function recover(store: Store, clock: Clock): Promise<State> {
  const recovering = new Recovering()
  const rows = await store.recover(recovering.visit)
  return recovering.finish(rows, clock.now())
}

/** An epoch is at least the second of its start, so that a hub restored from an old backup is ahead of every hub that ran since. */
export async function startEpoch(core: Core, store: Store, clock: Clock): Promise<void> {
  const now = clock.now()
  core.record({ c: 'epoch', epoch: Math.max(core.state.epoch + 1, Math.floor(now.wall / 1000)), at: now.wall })
  const batch = core.finish(now)
  if (batch !== null) await store.append(batch.commit)
}

/** The first token is written where only its owner can read it, and never shown. */
export async function makeAdminToken(engine: EngineLoop, folder: string): Promise<void> {
  const secret = `stk_${randomBytes(32).toString('base64url')}`
  await writeAtomic(join(folder, 'admin-token'), `${secret}\n`, { mode: 0o600 })
  await engine.execute({
    kind: 'addToken',
    id: newId(),
    hash: sha256(secret),
    role: 'admin',
    owner: 'admin',
    label: 'made at the first start',
    expiresAt: null,
  })
}

import type { KeyRotated } from '@stoker/protocol'
import type { RouteContext } from './context.ts'
import { webhookKey } from './webhooks.ts'

/** The old keys are forgotten only when everything they sealed is sealed anew; killed halfway, both are there and it can be done again. */
export async function rotateKey({
  engine,
  queries,
  vault,
}: Pick<RouteContext, 'engine' | 'queries' | 'vault'>): Promise<KeyRotated> {
  const key = await vault.addKey()
  const all = await engine.read(state => [...state.secrets.values()])
  let resealed = 0
  for (const { owner, name } of all) {
    const row = await queries.secret(owner, name)
    if (row === null) continue
    const sealed = await vault.seal(owner, name, await vault.open(owner, name, row.sealed))
    const done = await engine.execute({ kind: 'resealSecret', owner, name, changedAt: row.changedAt, sealed })
    if (done.resealed) resealed += 1
  }
  for (const { id, owner, secret } of await engine.read(state => [...state.webhooks.values()])) {
    const name = webhookKey(id)
    const sealed = await vault.seal(owner, name, await vault.open(owner, name, secret))
    const done = await engine.execute({ kind: 'resealWebhook', id, sealed })
    if (done.resealed) resealed += 1
  }
  await vault.dropOldKeys()
  return { key, resealed }
}

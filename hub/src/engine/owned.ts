import type { ChangeOf, RowWrite } from '@stoker/protocol'
import { secretKey } from './owner-things.ts'
import type { State } from './state.ts'

/** Changes of what an owner keeps at the hub beside jobs: webhooks and secrets. */
type OwnedName = 'webhook' | 'webhookRemoved' | 'secretSet' | 'secretRemoved'

export const applyOwned: { readonly [C in OwnedName]: (state: State, change: ChangeOf<C>) => void } = {
  webhook: (state, { c: _, at, ...webhook }) => {
    state.webhooks.set(webhook.id, { ...webhook, createdAt: at })
  },
  webhookRemoved: (state, { id }) => {
    state.webhooks.delete(id)
  },
  secretSet: (state, { owner, name, bytes, at }) => {
    const key = secretKey(owner, name)
    const createdAt = state.secrets.get(key)?.createdAt ?? at
    state.secrets.set(key, { owner, name, bytes, createdAt, changedAt: at })
  },
  secretRemoved: (state, { owner, name }) => {
    state.secrets.delete(secretKey(owner, name))
  },
}

/** The sealed value of a secret is written by whoever decides: history never holds it. */
export const projectOwned: { readonly [C in OwnedName]: (change: ChangeOf<C>) => RowWrite[] } = {
  webhook: ({ c: _, at, on, labels, ...webhook }) => [
    {
      op: 'put',
      table: 'webhook',
      row: { ...webhook, on: JSON.stringify(on), labels: JSON.stringify(labels), createdAt: at },
    },
  ],
  webhookRemoved: ({ id }) => [
    { op: 'delete', table: 'webhook', key: { id } },
    { op: 'delete', table: 'delivery', key: { webhook: id } },
  ],
  secretSet: () => [],
  secretRemoved: ({ owner, name }) => [{ op: 'delete', table: 'secret', key: { owner, name } }],
}

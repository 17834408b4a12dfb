import { Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** Every end of a job writes a row for each of its owner's webhooks, so an owner has few. */
const MOST_PER_OWNER = 20

export function decideWebhook(
  state: State,
  { kind: _, on, ...webhook }: Of<'addWebhook'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['addWebhook'] {
  const has = [...state.webhooks.values()].filter(({ owner }) => owner === webhook.owner).length
  if (has >= MOST_PER_OWNER) {
    throw new Refused('webhook.too_many', `${webhook.owner} has ${has} webhooks, at most ${MOST_PER_OWNER} are kept`)
  }
  emit.change({ c: 'webhook', ...webhook, labels: { ...webhook.labels }, on: [...on], at: now.wall })
  return null
}

export function decideWebhookRemoved(
  state: State,
  { id }: Of<'removeWebhook'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['removeWebhook'] {
  if (!state.webhooks.has(id)) throw new Refused('webhook.not_found', `no webhook has the id ${id}`)
  emit.change({ c: 'webhookRemoved', id, at: now.wall })
  return null
}

/** Told as the webhook itself once more: whoever replays history ends with the newest seal. */
export function decideWebhookResealed(
  state: State,
  { id, sealed }: Of<'resealWebhook'>,
  _facts: Facts,
  _now: Now,
  emit: Emit,
): Replies['resealWebhook'] {
  const webhook = state.webhooks.get(id)
  if (webhook === undefined) return { resealed: false }
  const { createdAt, on, labels, ...rest } = webhook
  emit.change({ c: 'webhook', ...rest, on: [...on], labels: { ...labels }, secret: sealed, at: createdAt })
  return { resealed: true }
}

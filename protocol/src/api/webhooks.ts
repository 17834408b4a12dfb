import { z } from 'zod'
import { TERMINAL_STATES } from '../life.ts'
import { Job } from './jobs.ts'

const time = z.iso.datetime()
const Ends = z.enum(TERMINAL_STATES)

/** Where to tell that a job has ended; without `on` every end is told, without `labels` that of every job of the owner. */
export const NewWebhook = z.strictObject({
  url: z
    .string()
    .max(2000)
    .refine(isHttpUrl, 'an http or https URL without a password')
    .describe('Where the hub posts to'),
  on: z.array(Ends).min(1).optional(),
  labels: z.record(z.string().min(1).max(100), z.string().max(200)).optional(),
})
export type NewWebhook = z.infer<typeof NewWebhook>

export const Webhook = z.object({
  id: z.uuid(),
  owner: z.string(),
  url: z.string(),
  on: z.array(Ends),
  labels: z.record(z.string(), z.string()),
  createdAt: time,
})
export type Webhook = z.infer<typeof Webhook>

/** The only time the signing secret is shown. */
export const CreatedWebhook = Webhook.extend({ secret: z.string() })
export type CreatedWebhook = z.infer<typeof CreatedWebhook>

export const WebhookList = z.object({ webhooks: z.array(Webhook) })

/** One end to be told to one target; `failed` was given up after a day of trying. */
export const WebhookDelivery = z.object({
  job: z.uuid(),
  state: z.enum(['pending', 'delivered', 'failed']),
  tries: z.int(),
  createdAt: time,
  nextTryAt: time.nullable(),
  endedAt: time.nullable(),
  status: z.int().nullable(),
  error: z.string().nullable(),
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookDetail = Webhook.extend({ deliveries: z.array(WebhookDelivery) })
export type WebhookDetail = z.infer<typeof WebhookDetail>

/** What a target answered to a test message. */
export const WebhookPing = z.object({
  delivered: z.boolean(),
  status: z.int().nullable(),
  error: z.string().nullable(),
})
export type WebhookPing = z.infer<typeof WebhookPing>

/** What is posted. */
export const WebhookBody = z.object({
  type: z.enum(['job.ended', 'ping']),
  timestamp: time,
  data: z.object({ job: Job.nullable() }),
})
export type WebhookBody = z.infer<typeof WebhookBody>

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

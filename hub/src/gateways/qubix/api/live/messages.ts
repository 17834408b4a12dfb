import { z } from 'zod'

/** What a viewer may say; a name belongs to jobs and providers only. */
export const ViewerMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('subscribe:job'), subscriptionId: z.string().min(1).max(200) }),
  z.object({ type: z.literal('subscribe:provider'), subscriptionId: z.string().min(1).max(200) }),
  z.object({ type: z.literal('subscribe:marketplace'), subscriptionId: z.string().max(200).optional() }),
  z.object({ type: z.literal('unsubscribe'), subscriptionId: z.string().max(220).optional() }),
  z.object({ type: z.literal('ping') }),
])
export type ViewerMessage = z.output<typeof ViewerMessage>

export type ServerMessageType =
  | 'connected'
  | 'subscribed'
  | 'unsubscribed'
  | 'pong'
  | 'error'
  | 'JOB_PROGRESS'
  | 'JOB_COMPLETED'
  | 'JOB_LOGS'
  | 'PROVIDER_STATUS_CHANGED'
  | 'GPU_METRICS_UPDATE'
  | 'MARKETPLACE_UPDATE'

/** Null for what is no message. */
export function readMessage(text: string): ViewerMessage | null {
  try {
    return ViewerMessage.parse(JSON.parse(text))
  } catch {
    return null
  }
}

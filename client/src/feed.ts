import { z } from 'zod'
import type { Caller } from './caller.ts'
import { type FollowOptions, followStream } from './event-stream.ts'

const FeedEntry = z.object({
  n: z.number(),
  at: z.union([z.number(), z.string()]),
  changes: z.array(z.looseObject({ c: z.string() })),
})

/** One commit of the hub, as far as the caller may see it; `n` is the cursor behind it. */
export type FeedEntry = Readonly<z.infer<typeof FeedEntry>>

/** `after` continues behind a known entry; without it the feed starts now. */
export interface FeedOptions extends Omit<FollowOptions, 'lastEventId'> {
  readonly after?: number | undefined
}

/** Follows everything that happens until the caller aborts. */
export async function* followFeed(caller: Caller, options: FeedOptions = {}): AsyncGenerator<FeedEntry, void> {
  const { after, ...rest } = options
  const follow = { ...rest, lastEventId: after === undefined ? undefined : String(after) }
  for await (const message of followStream(caller, '/api/v1/feed', () => false, follow)) {
    if (message.event === 'change') yield FeedEntry.parse(JSON.parse(message.data))
  }
}

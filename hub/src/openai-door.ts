import type { RequestListener } from 'node:http'
import type { Log } from '@stoker/files'
import type { OpenAiContext } from './gateways/openai/context.ts'
import { OPENAI_ROUTES } from './gateways/openai/described.ts'
import { createOpenAi } from './gateways/openai/openai.ts'
import { TokenFigures } from './gateways/openai/token-figures.ts'
import { byPrefix } from './serving/by-prefix.ts'
import { below, type DescribedRoute } from './serving/described-route.ts'
import { Doorkeeper, type RateLimits } from './serving/rate-limit.ts'

/** Where clients of OpenAI look for everything, behind the address they are given. */
const PREFIX = '/v1'

interface Needed extends Omit<OpenAiContext, 'door' | 'failed' | 'figures' | 'startedAt'> {
  readonly log: Log
  readonly limits: RateLimits
}

export interface OpenAiDoor {
  readonly front: (rest: RequestListener) => RequestListener
  readonly figures: { readonly text: string }
  readonly routes: readonly DescribedRoute[]
  close(): Promise<void>
}

export async function openOpenAi({ log, limits, ...needed }: Needed): Promise<OpenAiDoor> {
  const figures = new TokenFigures()
  const service = await createOpenAi({
    ...needed,
    figures,
    startedAt: needed.now(),
    door: new Doorkeeper(limits, needed.now),
    failed: error => log('error', `openai: ${error instanceof Error ? error.stack : String(error)}`),
  })
  return {
    front: rest => byPrefix(PREFIX, service.request, rest),
    figures,
    routes: below(PREFIX, OPENAI_ROUTES),
    close: service.close,
  }
}

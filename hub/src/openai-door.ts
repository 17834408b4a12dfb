import type { RequestListener } from 'node:http'
import type { Log } from '@stoker/files'
import type { OpenAiContext } from './gateways/openai/context.ts'
import { OPENAI_ROUTES } from './gateways/openai/described.ts'
import { TokenFigures } from './gateways/openai/token-figures.ts'
import { byPrefix } from './serving/by-prefix.ts'
import { below, type DescribedRoute } from './serving/described-route.ts'
import { Doorkeeper, type RateLimits } from './serving/rate-limit.ts'
import { whenAsked } from './when-asked.ts'

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

export function openOpenAi({ log, limits, ...needed }: Needed): OpenAiDoor {
  const figures = new TokenFigures()
  const startedAt = needed.now()
  const load = async () => {
    const { createOpenAi } = await import('./gateways/openai/openai.ts')
    return createOpenAi({
      ...needed,
      figures,
      startedAt,
      door: new Doorkeeper(limits, needed.now),
      failed: error => log('error', `openai: ${error instanceof Error ? error.stack : String(error)}`),
    })
  }
  const service = whenAsked(load, log)
  return {
    front: rest => byPrefix(PREFIX, service.request, rest),
    figures,
    routes: below(PREFIX, OPENAI_ROUTES),
    close: service.close,
  }
}

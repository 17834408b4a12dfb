import type { JobState } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import type { State } from '../../../engine/state.ts'
import { callerOf, LOOKERS } from './caller.ts'
import type { ConsumerContext } from './context.ts'

const LIVE: readonly JobState[] = ['waiting', 'queued', 'active']

interface Stats {
  readonly jobs: { readonly total: number; readonly active: number }
  readonly providers: { readonly total: number; readonly active: number }
}

/** How much there is; jobs are the caller's own, for an admin everybody's. */
export function addStatsRoute(scope: FastifyInstance, context: ConsumerContext): void {
  scope.get('/api/stats', async request => {
    const { role, owner } = await callerOf(context, request, LOOKERS)
    return context.engine.read(state => statsOf(state, role === 'admin' ? null : owner))
  })
}

/** Of one owner, or of all. */
export function statsOf({ counters, workers }: State, owner: string | null): Stats {
  let [total, active] = [0, 0]
  for (const [whose, counts] of counters) {
    if (owner !== null && whose !== owner) continue
    for (const [state, n] of Object.entries(counts)) {
      total += n
      if (LIVE.includes(state as JobState)) active += n
    }
  }
  let there = 0
  for (const { connected, draining } of workers.values()) if (connected && !draining) there += 1
  return { jobs: { total, active }, providers: { total: workers.size, active: there } }
}

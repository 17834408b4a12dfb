import { z } from 'zod'
import type { Usage } from '../executors/port.ts'
import { EngineClient } from '../probe/engine/engine-client.ts'

const Stats = z.object({
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number() }) }),
  memory_stats: z.object({ usage: z.number().optional(), stats: z.record(z.string(), z.unknown()).nullish() }),
  pids_stats: z.object({ current: z.number().nullish() }).nullish(),
})

/** What a container uses now, as its engine counts it; null when it does not run, or nobody can tell. */
export async function containerUsage(socket: string, name: string): Promise<Usage | null> {
  const path = `/containers/${encodeURIComponent(name)}/stats?stream=false&one-shot=true`
  const parsed = Stats.safeParse(await new EngineClient(socket).json('GET', path).catch(() => null))
  if (!parsed.success) return null
  const { cpu_stats, memory_stats, pids_stats } = parsed.data
  // An engine tells of a container that has ended too, with nothing in it.
  if (memory_stats.usage === undefined) return null
  const cached = memory_stats.stats?.total_inactive_file ?? memory_stats.stats?.inactive_file ?? 0
  return {
    cpuSeconds: cpu_stats.cpu_usage.total_usage / 1e9,
    rssBytes: Math.max(0, memory_stats.usage - (typeof cached === 'number' ? cached : 0)),
    pids: pids_stats?.current ?? undefined,
  }
}

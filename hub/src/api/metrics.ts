import { Problem } from '@stoker/protocol'
import { Counter, Gauge, Registry } from 'prom-client'
import { z } from 'zod'
import { guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { countJobs, countWorkers } from './service.ts'

/** Figures are taken when they are asked for; a request itself only counts its status. */
export function addMetricsRoute(api: Api, context: RouteContext): void {
  const registry = new Registry()
  const readFigures = addFigures(registry, context)
  const responses = new Counter({
    name: 'stoker_http_responses_total',
    help: 'Answers of the API by HTTP status',
    labelNames: ['status'],
    registers: [registry],
  })
  const byStatus = new Map<number, number>()
  api.addHook('onResponse', (_request, reply, done) => {
    byStatus.set(reply.statusCode, (byStatus.get(reply.statusCode) ?? 0) + 1)
    done()
  })

  api.get('/metrics', {
    schema: {
      summary: 'Figures for Prometheus',
      tags: ['hub'],
      response: {
        200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } },
        '4xx': Problem,
        '5xx': Problem,
      },
    },
    onRequest: guard(context.tokens, ['admin', 'read']),
    handler: async (_request, reply) => {
      await readFigures()
      for (const [status, n] of byStatus) responses.inc({ status }, n)
      byStatus.clear()
      return reply.header('content-type', registry.contentType).send(await registry.metrics())
    },
  })
}

function addFigures(registry: Registry, context: RouteContext): () => Promise<void> {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const jobs = gauge('stoker_jobs', 'Jobs by state, of all owners, ended ones included', ['state'])
  const workers = gauge('stoker_workers', 'Workers by whether they are connected', ['connected'])
  const gpus = gauge('stoker_gpus', 'GPUs of all known workers by whether an attempt claims them', ['claimed'])
  const epoch = gauge('stoker_epoch', 'Starts of the hub')
  const journal = gauge('stoker_journal_rows', 'Commits in history')
  const streams = gauge('stoker_open_streams', 'Followers of events, logs and the feed')
  const startedAt = gauge('process_start_time_seconds', 'When the hub started, in seconds since 1970')
  const memory = gauge('process_resident_memory_bytes', 'Memory of the hub process')
  const cpu = gauge('process_cpu_seconds_total', 'CPU time the hub process has used')
  gauge('stoker_build_info', 'The version of the hub', ['version']).set({ version: context.version }, 1)

  return () =>
    context.engine.read(state => {
      for (const [name, n] of Object.entries(countJobs(state, null))) jobs.set({ state: name }, n)
      const { connected, total } = countWorkers(state)
      workers.set({ connected: 'true' }, connected)
      workers.set({ connected: 'false' }, total - connected)
      const devices = new Set([...state.workers.values()].flatMap(w => w.facts.hardware.gpus.map(({ uuid }) => uuid)))
      gpus.set({ claimed: 'true' }, state.devices.size)
      gpus.set({ claimed: 'false' }, Math.max(0, devices.size - state.devices.size))
      epoch.set(state.epoch)
      journal.set(state.journal.n)
      streams.set(context.open.size)
      startedAt.set(context.startedAt / 1000)
      memory.set(process.memoryUsage.rss())
      const { user, system } = process.cpuUsage()
      cpu.set((user + system) / 1e6)
    })
}

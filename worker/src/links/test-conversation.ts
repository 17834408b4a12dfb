import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { HttpCall } from './test-http-hub.ts'

/** Figures that differ from run to run; what is in them is looked at elsewhere. */
const VOLATILE = new Set(
  [
    'timestamp cpuPercent ramPercent ramUsedGb ramTotalGb cpu_percent ram_percent ram_used_gb ram_total_gb',
    'processingTimeSeconds cpuUsageAvg ramUsageAvg ram_available_gb memory_usage available_memory_gb duration',
    'memory_utilization_percent cpu_usage_percent memory_usage_percent',
  ].flatMap(names => names.split(' ')),
)

/** There only when someone looked in time. */
const PERHAPS = ['jobMemoryMb', 'jobCpus']

/** Asked again and again beside everything else. */
const POLL = /^GET .*(\/pending|\/workers\/jobs)/

/** The requests of a conversation in their order, without what no two runs share; polls stand once, at the end. */
export function conversationOf(calls: readonly HttpCall[]): readonly unknown[] {
  const told = calls.map(({ method, path, json, headers }) => ({
    request: `${method} ${path}`,
    body: json === undefined ? (headers['content-type']?.replace(/=.*/, '=…') ?? null) : settled(json),
  }))
  const polls = new Set(told.filter(({ request }) => POLL.test(request)).map(({ request }) => request))
  return [...told.filter(({ request }) => !POLL.test(request)), ...[...polls].map(request => ({ request, body: null }))]
}

/** A wire cannot change by accident: what is said is held against what was recorded. UPDATE_GOLDEN=1 records anew. */
export function expectGolden(file: URL, said: readonly unknown[]): void {
  const text = `${JSON.stringify(said, null, 2)}\n`
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text)
  expect(said).toEqual(JSON.parse(readFileSync(file, 'utf8')))
}

function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !PERHAPS.includes(name))
      .map(([name, one]) => [name, VOLATILE.has(name) ? `<${typeof one}>` : settled(one)]),
  )
}

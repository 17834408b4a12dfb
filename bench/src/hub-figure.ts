import type { Client } from '@stoker/client'

/** How late the hub's event loop came to its work (p99, ms) since it was asked the last time. */
export async function loopDelayMs(client: Client): Promise<number> {
  return 1000 * figureIn(await client.metrics(), 'stoker_event_loop_delay_seconds{quantile="0.99"}')
}

/** One figure of a page for Prometheus. */
export function figureIn(page: string, name: string): number {
  const line = page.split('\n').find(text => text.startsWith(`${name} `))
  const value = Number(line?.slice(name.length + 1) ?? Number.NaN)
  if (Number.isNaN(value)) throw new Error(`the hub's figures should have ${name}, they have not`)
  return value
}

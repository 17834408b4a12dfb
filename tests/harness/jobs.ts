import type { Client } from '@stoker/client'
import type { JobDetail, JobSpecInput, JobState } from '@stoker/protocol'
import { expect } from 'vitest'

/** A program that runs as it is, so that it can reach files of the test. */
export function aProgram(command: JobSpecInput['command'], more: JobSpecInput = {}): JobSpecInput {
  return { isolation: 'none', resources: { cpus: 0.1 }, ...more, command }
}

/** Follows the job to its end and answers what became of it. */
export async function ended(client: Client, id: string): Promise<JobDetail> {
  for await (const { event } of client.events(id)) if (event === 'end') return client.job(id)
  throw new Error(`job ${id} should end, its events stopped before`)
}

/** Submits and waits for the end. */
export async function run(client: Client, spec: JobSpecInput): Promise<JobDetail> {
  return ended(client, (await client.submit(spec)).id)
}

/** Waits until the job's state, or that of its last attempt, is the given one. */
export async function becomes(client: Client, id: string, state: JobState | 'running', withinMs = 20_000) {
  const look = async () => {
    const job = await client.job(id)
    return state === 'running' ? (job.history.at(-1)?.state ?? job.state) : job.state
  }
  await expect.poll(look, { timeout: withinMs, interval: 50 }).toBe(state)
}

export async function logOf(client: Client, id: string, stream?: 'stdout' | 'stderr'): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const bytes of client.logs(id, { stream })) parts.push(bytes)
  return Buffer.concat(parts).toString()
}

/** Waits until the program has printed the text. */
export async function prints(client: Client, id: string, text: string, withinMs = 20_000): Promise<void> {
  await expect.poll(() => logOf(client, id), { timeout: withinMs, interval: 50 }).toContain(text)
}

/** How many jobs there are in each state, of those that have any. */
export async function countsOf(client: Client): Promise<Partial<Record<JobState, number>>> {
  const entries = Object.entries(await client.counts()).filter(([, count]) => count > 0)
  return Object.fromEntries(entries)
}

import type { Client } from '@stoker/client'
import type { JobSpecInput, WorkerDetail } from '@stoker/protocol'

export interface FirstJob {
  readonly output: string
  readonly tookMs: number
  readonly state: string
}

const HELLO: JobSpecInput = {
  name: 'hello',
  command: ['sh', '-c', 'echo "hello from $(hostname 2>/dev/null || echo this machine)"'],
}
const ECHO: JobSpecInput = { name: 'hello', type: 'echo', input: { text: 'hello' } }
const PATIENCE_MS = 10_000

/** Proves the whole way once, with a real job on the real worker: submit, run, output, end. */
export async function runFirstJob(client: Client, worker: WorkerDetail, now: () => number): Promise<FirstJob> {
  const startedAt = now()
  const spec = worker.abilities.executors.includes('process') ? HELLO : ECHO
  const { id } = await client.submit({ ...spec, placement: { worker: worker.name } })
  const lines: string[] = []
  for await (const event of client.events(id, { signal: AbortSignal.timeout(PATIENCE_MS) })) {
    if (event.event === 'end') return { output: lines.join('\n'), tookMs: now() - startedAt, state: event.job.state }
    if (event.event === 'logs' || event.event === 'text') lines.push(String(event.data.log ?? event.data.text ?? ''))
  }
  return { output: lines.join('\n'), tookMs: now() - startedAt, state: 'unknown' }
}

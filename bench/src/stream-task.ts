import { GpuClient } from '../../tests/harness/gpu-client.ts'
import { stampsIn } from './processes/stamped-program.ts'
import type { Hub } from './servers/stoker.ts'
import { ECHO_PRESET } from './servers/warm-session.ts'

/** What the echo program is asked to say before it answers. */
export interface Asked {
  readonly deltas: number
  readonly everyMs: number
}

/** A client of the GPU service that puts a task into a warm session and reads its stream to the end; answers how long each delta was on its way. */
export async function streamTask(hub: Hub, session_id: string, asked: Asked, now: () => number): Promise<number[]> {
  const body = { ...ECHO_PRESET, task_type: 'session', task_difficulty: 'low', session_id, metadata: asked }
  const stream = await new GpuClient(`${hub.url}/gpu`, hub.token).open('/api/tasks/submit', { body })
  const waits: number[] = []
  const events = await stream.until(({ event, data }) => {
    if (event === 'text_delta') waits.push(...waitsIn(data, now()))
    return event === 'task_finish'
  })
  const { status } = events.at(-1)?.data ?? {}
  if (status !== 'completed') throw new Error(`a task should be completed, it is ${status}`)
  return complete(waits, asked)
}

/** The same by the hub's own API: the task is a job whose events are followed. */
export async function followTask({ client }: Hub, session: string, asked: Asked, now: () => number): Promise<number[]> {
  const { id } = await client.sendTask(session, { input: { ...asked } })
  const waits: number[] = []
  for await (const event of client.events(id)) {
    if (event.event === 'text_delta') waits.push(...waitsIn(event.data, now()))
  }
  return complete(waits, asked)
}

function waitsIn(data: object, at: number): number[] {
  return stampsIn(JSON.stringify(data)).map(stamp => at - stamp)
}

function complete(waits: number[], { deltas }: Asked): number[] {
  if (waits.length !== deltas) throw new Error(`a client should have ${deltas} deltas, it had ${waits.length}`)
  return waits
}

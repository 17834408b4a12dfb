import type { GpuSample } from '@stoker/protocol'
import type { State } from '../../engine/state.ts'
import type { GpuServiceContext } from './context.ts'
import { type SeenDevice, seenDevices } from './difficulty.ts'

/** More ids than anybody reads; counts are always whole. */
const MOST_IDS = 1000

/** Who holds each device, and what runs, at one moment. */
interface Look {
  readonly devices: readonly (SeenDevice & { readonly holder: number | null })[]
  /** Active jobs by their numbers: sessions, and all others. */
  readonly sessions: ReadonlySet<number>
  readonly tasks: readonly number[]
}

/** Whether the service can take tasks, over all machines. */
export async function health(context: GpuServiceContext) {
  const { look, ids } = await lookAround(context)
  return {
    status: statusOf(look),
    service: 'gpu-service',
    version: context.version,
    gpus: look.devices.map(device => {
      const { name, difficulty, isFree, memoryMb, sample } = factsOf(context, device)
      return {
        device_id: context.devices.of(device.gpu.uuid),
        name,
        difficulty,
        is_available: isFree,
        memory_used_mb: sample?.memoryUsedMb ?? null,
        memory_total_mb: memoryMb,
        temperature_celsius: sample?.temperatureC ?? null,
        utilization_percent: sample?.utilization ?? null,
        current_session_id: holderId(device.holder, ids, seq => look.sessions.has(seq)),
      }
    }),
    active_sessions: look.sessions.size,
    active_tasks: look.tasks.length,
  }
}

/** The same in detail: who has which device, what runs, and what is left. */
export async function resources(context: GpuServiceContext, sessions: readonly SessionFigures[]) {
  const { look, ids } = await lookAround(context)
  const { devices, tasks } = look
  const count = (difficulty: string) => devices.filter(device => device.difficulty === difficulty).length
  const active = sessions.filter(({ status }) => status === 'working').length
  return {
    timestamp: new Date(context.now()).toISOString(),
    resource_allocation: {
      gpus: devices.map(device => {
        const { name, difficulty, isFree, memoryMb, sample } = factsOf(context, device)
        const used = sample?.memoryUsedMb ?? null
        return {
          device_id: context.devices.of(device.gpu.uuid),
          name,
          difficulty,
          is_available: isFree,
          current_task_id: holderId(device.holder, ids, seq => !look.sessions.has(seq)),
          memory: { used_mb: used, total_mb: memoryMb, utilization_percent: shareOf(used, memoryMb) },
          gpu_utilization_percent: sample?.utilization ?? null,
          temperature_celsius: sample?.temperatureC ?? null,
        }
      }),
      running_tasks: { count: tasks.length, task_ids: tasks.flatMap(seq => ids.get(seq) ?? []) },
      sessions: { count: sessions.length, active, idle: sessions.length - active, details: sessions.map(detailOf) },
    },
    capacity: {
      total_gpus: devices.length,
      available_gpus: devices.filter(({ isFree }) => isFree).length,
      gpus_by_difficulty: { low: count('low'), high: count('high') },
    },
  }
}

/** What resources tell of a session. */
export interface SessionFigures {
  readonly session_id: string
  readonly status: string
  readonly gpu_device_id: number | null
  readonly model_id: string | null
  readonly current_task_id: string | null
  readonly created_at: string
  readonly last_activity: string
  readonly queue_size: number
}

/** Only what this list has always had. */
function detailOf({
  session_id,
  status,
  gpu_device_id,
  model_id,
  current_task_id,
  ...times
}: SessionFigures): SessionFigures {
  const { created_at, last_activity, queue_size } = times
  return { session_id, status, gpu_device_id, model_id, current_task_id, created_at, last_activity, queue_size }
}

async function lookAround(context: GpuServiceContext): Promise<{ look: Look; ids: ReadonlyMap<number, string> }> {
  await context.devices.settled()
  const look = await context.engine.read(lookAt)
  const holders = look.devices.flatMap(({ holder }) => holder ?? [])
  const wanted = [...new Set([...holders, ...look.tasks.slice(0, MOST_IDS)])]
  const rows = wanted.length === 0 ? [] : await context.queries.offers(wanted)
  return { look, ids: new Map(rows.map(({ seq, id }) => [seq, id])) }
}

function lookAt(state: State): Look {
  const sessions = new Set<number>()
  const tasks: number[] = []
  for (const { seq, bucket } of state.active.values())
    if ((state.buckets.get(bucket)?.terms.session ?? null) === null) tasks.push(seq)
    else sessions.add(seq)
  const devices = seenDevices(state).map(device => {
    const [claim] = state.devices.get(device.gpu.uuid)?.values() ?? []
    return { ...device, holder: claim?.job ?? null }
  })
  return { devices, sessions, tasks }
}

function statusOf({ devices, sessions }: Look): string {
  const there = devices.filter(({ worker }) => worker.connected)
  if (there.length === 0 && sessions.size === 0) return 'unhealthy'
  return there.some(({ isFree }) => isFree) ? 'healthy' : 'degraded'
}

function factsOf({ board }: GpuServiceContext, { gpu, worker, difficulty, isFree }: SeenDevice) {
  const sample: GpuSample | undefined = worker.connected
    ? board
        .samplesOf(worker.id)
        .at(-1)
        ?.gpus.find(({ uuid }) => uuid === gpu.uuid)
    : undefined
  return { name: gpu.name, memoryMb: gpu.memoryMb, difficulty, isFree, sample }
}

function holderId(
  holder: number | null,
  ids: ReadonlyMap<number, string>,
  isWanted: (seq: number) => boolean,
): string | null {
  return holder !== null && isWanted(holder) ? (ids.get(holder) ?? null) : null
}

function shareOf(used: number | null, total: number): number | null {
  return used === null || total === 0 ? null : Math.round((used / total) * 1000) / 10
}

import { formatSize, type JobRow, type JobSpec, readSpec } from '@stoker/protocol'
import type { Streams } from '../../outputs/port.ts'
import { fenceOf } from '../../serving/follow-job.ts'
import type { Queries } from '../../store/port.ts'
import { LineEvents } from './line-events.ts'
import { noteOf } from './task-labels.ts'
import { elapsedSeconds, errorOf, taskState } from './task-status.ts'

const LOG_LINES = 10
/** Events and logs share the streams: among so many lines the last logs are looked for. */
const LOOKED_LINES = 100
const LOOKED_BYTES = 256 * 1024

interface ViewPorts {
  readonly deviceId: (uuid: string) => number | null
  readonly now: () => number
}

/** A task in a list. */
export function viewTask(row: JobRow, { deviceId, now }: ViewPorts) {
  const { type, difficulty, gpu } = noteOf(row)
  const spec = readSpec(row.spec)
  const [uuid]: string[] = row.gpus === null ? [] : JSON.parse(row.gpus)
  const isPending = taskState(row.state) === 'pending'
  return {
    task_id: row.id,
    task_name: row.name,
    status: taskState(row.state),
    task_type: type,
    task_difficulty: difficulty,
    ...presetOf(spec),
    session_id: spec.task?.session ?? null,
    gpu_device_id: gpu ?? (uuid === undefined ? null : deviceId(uuid)),
    created_at: isoTime(row.submittedAt),
    started_at: isoTimeOrNull(row.startedAt ?? row.runningAt),
    completed_at: isoTimeOrNull(row.endedAt),
    elapsed_seconds: isPending ? 0 : elapsedSeconds(row, now()),
    timeout_seconds: spec.timeoutMs === null ? null : spec.timeoutMs / 1000,
    error_message: isPending ? null : errorOf(row),
  }
}

/** Everything a client may want to know of one task after the fact. */
export async function viewTaskDetail(
  row: JobRow,
  ports: ViewPorts & { readonly queries: Queries; readonly streams: Streams },
) {
  const spec = readSpec(row.spec)
  return {
    ...viewTask(row, ports),
    container_id: row.containerId,
    isolation: row.isolation,
    attempts: row.attempts,
    exit_code: row.exitCode,
    note: row.note,
    result: row.result === null ? null : JSON.parse(row.result),
    relaxed: relaxedIn(spec),
    on_disconnect: noteOf(row).onDisconnect,
    logs: row.attempts === 0 ? [] : await lastLogs(row, ports),
  }
}

/** The model a program has loaded, or a task asks for. */
export function modelOf({ spec }: Pick<JobRow, 'spec'>): string | null {
  return presetOf(readSpec(spec)).model_id
}

function presetOf({ preset, env }: JobSpec): { model_id: string | null; task_preset: string | null } {
  const cut = preset?.lastIndexOf('/') ?? -1
  if (preset === null || cut < 0) return { model_id: env.MODEL_NAME ?? null, task_preset: preset }
  return { model_id: preset.slice(0, cut), task_preset: preset.slice(cut + 1) }
}

const TMP_BYTES = 64 * 2 ** 20

/** What the program may have beyond the strictest. */
function relaxedIn({ container, network, isolation }: JobSpec): string[] {
  const relaxed: string[] = []
  if (isolation === 'none') relaxed.push('isolation: none')
  if (network === 'internet' || network === 'host') relaxed.push(`network: ${network}`)
  if (container === null) return relaxed
  if (container.user !== null) relaxed.push(`user: ${container.user}`)
  if (container.writableRoot) relaxed.push('writable root')
  if (container.tmpBytes > TMP_BYTES) relaxed.push(`tmp: ${formatSize(container.tmpBytes)}`)
  for (const { source, target, readOnly } of container.mounts)
    if (!readOnly) relaxed.push(`writable mount: ${source} at ${target}`)
  return relaxed
}

async function lastLogs(row: JobRow, { queries, streams }: { readonly queries: Queries; readonly streams: Streams }) {
  const fence = await fenceOf(queries, row, row.attempts)
  const from = await streams.seekTail(fence, LOOKED_LINES)
  const { pieces } = await streams.read(fence, from, { maxBytes: LOOKED_BYTES })
  const lines = new LineEvents()
  const events = [...pieces.flatMap(piece => lines.push(piece)), ...lines.end()]
  return events.flatMap(({ event, data }) => (event === 'logs' ? [String(data.log)] : [])).slice(-LOG_LINES)
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}

function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at)
}

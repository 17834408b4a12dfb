import type { JobRow } from '@stoker/protocol'

/** What this dialect knows of a task beyond its spec is kept in its labels, so that it is there after every restart. */
export const TASK_LABELS = {
  /** On every task that came this way. */
  dialect: 'dialect',
  /** What the client calls it: oneoff, session, or the job_type of a custom task. */
  type: 'gpu-service.type',
  difficulty: 'gpu-service.difficulty',
  /** `session_ready` for the task that opened its session, `session_found` for later ones. */
  connection: 'gpu-service.connection',
  onDisconnect: 'gpu-service.on_disconnect',
  /** The number of the device its session had when the task was put into it, or `none`; absent while the session waited for one. */
  gpu: 'gpu-service.gpu',
} as const

export const DIALECT = 'gpu-service'

const NO_GPU = 'none'

type OnDisconnect = 'continue' | 'cancel'
type Connection = 'allocated' | 'session_ready' | 'session_found'

export interface TaskNote {
  readonly type: string
  readonly difficulty: string | null
  readonly connection: Connection
  readonly onDisconnect: OnDisconnect
  /** Undefined: not known when the task was made. */
  readonly gpu?: number | null | undefined
}

export function labelsOf({ type, difficulty, connection, onDisconnect, gpu }: TaskNote): Record<string, string> {
  return {
    [TASK_LABELS.dialect]: DIALECT,
    [TASK_LABELS.type]: type,
    ...(difficulty === null ? {} : { [TASK_LABELS.difficulty]: difficulty }),
    ...(connection === 'allocated' ? {} : { [TASK_LABELS.connection]: connection }),
    ...(onDisconnect === 'continue' ? {} : { [TASK_LABELS.onDisconnect]: onDisconnect }),
    ...(gpu === undefined ? {} : { [TASK_LABELS.gpu]: gpu === null ? NO_GPU : String(gpu) }),
  }
}

/** A job that came another way is seen as an ordinary one-off task. */
export function noteOf({ labels }: Pick<JobRow, 'labels'>): TaskNote {
  const known: Readonly<Record<string, string>> = labels === null ? {} : JSON.parse(labels)
  const connection = known[TASK_LABELS.connection]
  return {
    type: known[TASK_LABELS.type] ?? 'oneoff',
    difficulty: known[TASK_LABELS.difficulty] ?? null,
    connection: connection === 'session_ready' || connection === 'session_found' ? connection : 'allocated',
    onDisconnect: known[TASK_LABELS.onDisconnect] === 'cancel' ? 'cancel' : 'continue',
    gpu: gpuIn(known[TASK_LABELS.gpu]),
  }
}

function gpuIn(text: string | undefined): TaskNote['gpu'] {
  if (text === undefined) return undefined
  return text === NO_GPU ? null : Number(text)
}

import { type JobSpecInput, parseJobSpec, Refused, writeSpec } from '@stoker/protocol'
import type { SessionState } from '../../engine/sessions.ts'
import { admit } from './admission.ts'
import { AnswerError, notFound } from './answer-error.ts'
import type { KeyHolder } from './api-key.ts'
import type { GpuServiceContext } from './context.ts'
import { type PresetTask, programSpec } from './preset-task.ts'
import { mayUse, sessionById, sessionStatus, waitingSession } from './session-book.ts'
import { labelsOf, type TaskNote } from './task-labels.ts'
import { modelOf } from './task-views.ts'

const RETRY_AFTER_SECONDS = 5

/** Puts a task into the session it names, into one that waits, or into a new one; tells the id of the task. */
export async function beginSessionTask(
  context: GpuServiceContext,
  holder: KeyHolder,
  task: PresetTask,
): Promise<string> {
  if (task.sessionId !== undefined) {
    await checkNamed(context, holder, task, task.sessionId)
    return joinSession(context, holder, task, task.sessionId)
  }
  const waiting = task.createSession
    ? null
    : await context.engine.read(state => waitingSession(state, task.preset.name, holder))
  if (waiting !== null) return joinSession(context, holder, task, waiting.id)
  const { difficulty, waits } = task
  const spec = programSpec(task, 'session', {}, context.presets.settings)
  const id = context.newId()
  await admit(context, {
    owner: holder.owner,
    spec,
    difficulty,
    waits,
    followedBy: session => submitTask(context, holder, task, { id, session, connection: 'session_ready' }),
  })
  return id
}

/** A session that cannot take the task is as good as none; one with another model is the caller's mistake. */
async function checkNamed(
  { engine, queries }: GpuServiceContext,
  holder: KeyHolder,
  { preset }: PresetTask,
  id: string,
): Promise<void> {
  const session = await engine.read((state): SessionState | null => {
    const found = sessionById(state, id)
    if (found === null || !mayUse(found, holder)) return null
    const status = sessionStatus(state, found)
    return status === 'waiting' || status === 'working' ? found : null
  })
  if (session === null) throw notFound('Session', id)
  const row = await queries.jobById(session.id)
  const model = row === null ? null : modelOf(row)
  const wanted = preset.model ?? preset.name
  if (model !== wanted)
    throw new AnswerError(400, `Session ${id} has the model ${model ?? '(none)'}, the task asks for ${wanted}`)
}

interface TaskPlace extends Pick<TaskNote, 'connection' | 'gpu'> {
  readonly id: string
  readonly session: string
}

async function joinSession(
  context: GpuServiceContext,
  holder: KeyHolder,
  task: PresetTask,
  session: string,
): Promise<string> {
  const { engine, newId, devices } = context
  const gpus = await engine.read(state => {
    const seq = sessionById(state, session)?.seq
    return seq === undefined ? undefined : state.active.get(seq)?.claim.gpus
  })
  const [uuid] = gpus ?? []
  const gpu = gpus === undefined ? undefined : uuid === undefined ? null : devices.of(uuid)
  const id = newId()
  await submitTask(context, holder, task, { id, session, connection: 'session_found', gpu })
  return id
}

/** Makes the task at once, within this turn: one that opens a session must be in the same commit as the session. */
async function submitTask(
  { engine }: GpuServiceContext,
  { owner }: KeyHolder,
  task: PresetTask,
  { id, session, connection, gpu }: TaskPlace,
): Promise<void> {
  const { difficulty, onDisconnect } = task
  const labels = labelsOf({ type: 'session', difficulty, connection, onDisconnect, gpu })
  const parsed = parseJobSpec(taskSpec(task, session, labels))
  if (!parsed.ok) throw new AnswerError(400, parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; '))
  const job = { id, spec: parsed.spec, specText: writeSpec(parsed.spec), retryOf: null }
  try {
    await engine.execute({ kind: 'submit', owner, jobs: [job], key: null, failFast: false, isAdmin: true })
  } catch (error) {
    throw refusalOf(error, session)
  }
}

function taskSpec(
  { preset, metadata, timeoutSeconds }: PresetTask,
  session: string,
  labels: Record<string, string>,
): JobSpecInput {
  return {
    type: 'task',
    name: preset.name,
    preset: preset.name,
    task: { session },
    input: { ...preset.metadata, ...metadata } as NonNullable<JobSpecInput['input']>,
    timeout: timeoutSeconds,
    labels,
  }
}

function refusalOf(error: unknown, session: string): unknown {
  if (!(error instanceof Refused)) return error
  if (error.code === 'session.full')
    return new AnswerError(503, `Session ${session} queue is full`, { retryAfterSeconds: RETRY_AFTER_SECONDS })
  return error.code === 'session.not_found' ? notFound('Session', session) : error
}

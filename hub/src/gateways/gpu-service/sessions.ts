import { isTerminal, type JobRow } from '@stoker/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SessionState } from '../../engine/sessions.ts'
import { notFound } from './answer-error.ts'
import { type KeyHolder, keyHolder } from './api-key.ts'
import type { GpuServiceContext } from './context.ts'
import type { SessionFigures } from './health.ts'
import { mayUse, queueSize, type SessionStatus, sessionById, sessionStatus } from './session-book.ts'
import type { TaskDesk } from './task-desk.ts'
import { modelOf } from './task-views.ts'

type SessionRequest = FastifyRequest<{ Params: { id: string } }>

/** What live state knows of a session. */
interface SessionLook {
  readonly session: SessionState
  readonly status: SessionStatus
  readonly queued: number
  readonly gpu: string | null
  readonly task: number | null
}

export function addSessionRoutes(service: FastifyInstance, desk: TaskDesk): void {
  const { context } = desk
  const { engine } = context

  service.get('/api/sessions', async request => {
    const holder = await keyHolder(context, request)
    const sessions = await liveSessions(context, session => mayUse(session, holder))
    return { sessions: sessions.map(viewSession), total: sessions.length }
  })

  service.get('/api/sessions/:id', async (request: SessionRequest) => {
    const holder = await keyHolder(context, request)
    const { id } = request.params
    const [found] = await liveSessions(context, session => session.id === id && mayUse(session, holder))
    if (found === undefined) throw notFound('Session', id)
    return viewSession(found)
  })

  service.delete('/api/sessions/:id', async (request: SessionRequest) => {
    const session = await own(request)
    const { effect } = await engine.execute({ kind: 'endSession', job: session.seq, reason: 'manual' })
    const isGone = effect === 'ended' || (await desk.ends(session.id))
    return {
      success: true,
      session_id: session.id,
      message: isGone
        ? 'Session killed successfully'
        : 'Session is being killed; its GPU is free when its program is gone',
    }
  })

  service.post('/api/sessions/:id/keepalive', async (request: SessionRequest) => {
    const session = await own(request)
    const { activeAt } = await engine.execute({ kind: 'keepSession', job: session.seq })
    return {
      success: true,
      session_id: session.id,
      message: 'Session keepalive updated',
      last_activity: new Date(activeAt).toISOString(),
    }
  })

  /** Only who owns a session, or an admin, decides about it. */
  async function own(request: SessionRequest): Promise<SessionState> {
    const holder: KeyHolder = await keyHolder(context, request)
    const { id } = request.params
    const session = await engine.read(state => {
      const found = sessionById(state, id)
      return found === null || sessionStatus(state, found) === 'killed' ? null : found
    })
    if (session === null || !(holder.isAdmin || session.owner === holder.owner)) throw notFound('Session', id)
    return session
  }
}

type SessionView = Omit<SessionFigures, 'current_task_id'> & { readonly container_id: string | null }

function viewSession({ current_task_id: _, ...view }: SessionFigures & SessionView): SessionView {
  return view
}

/** The sessions that live, oldest first; killed ones have left. */
export async function liveSessions(
  { engine, queries, devices }: GpuServiceContext,
  isWanted: (session: SessionState) => boolean,
): Promise<readonly (SessionFigures & SessionView)[]> {
  await devices.settled()
  const looks = await engine.read(state =>
    [...state.sessions.values()].filter(isWanted).flatMap((session): SessionLook[] => {
      const status = sessionStatus(state, session)
      if (status === 'killed') return []
      const [place] = session.places.values()
      const gpu = state.active.get(session.seq)?.claim.gpus[0] ?? null
      return [{ session, status, queued: queueSize(state, session), gpu, task: place?.job ?? null }]
    }),
  )
  const seqs = looks.flatMap(({ session, task }) => (task === null ? [session.seq] : [session.seq, task]))
  const rows = new Map((seqs.length === 0 ? [] : await queries.jobsBySeq(seqs)).map(row => [row.seq, row]))
  return looks.flatMap(look => {
    const row = rows.get(look.session.seq)
    return row === undefined || isTerminal(row.state) ? [] : [view(look, row, rows)]
  })

  function view(look: SessionLook, row: JobRow, all: ReadonlyMap<number, JobRow>): SessionFigures & SessionView {
    const { session, status, queued, gpu, task } = look
    return {
      session_id: session.id,
      status,
      gpu_device_id: gpu === null ? null : devices.of(gpu),
      container_id: row.containerId,
      model_id: modelOf(row),
      current_task_id: task === null ? null : (all.get(task)?.id ?? null),
      created_at: new Date(row.submittedAt).toISOString(),
      last_activity: new Date(session.activeAt ?? row.runningAt ?? row.submittedAt).toISOString(),
      queue_size: queued,
    }
  }
}

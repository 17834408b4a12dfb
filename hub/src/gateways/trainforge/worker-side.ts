import type { Readable } from 'node:stream'
import { zipFolder } from '@stoker/files'
import type { WorkerState } from '../../engine/state.ts'
import type { DialectCaller } from '../../serving/dialect-caller.ts'
import { ClaimedStatusBody, read } from './bodies.ts'
import type { TrainForgeContext } from './context.ts'
import type { Desk } from './desk.ts'
import type { KnownWorker } from './ledger.ts'
import type { Held } from './rules/held.ts'

type Body = Readonly<Record<string, unknown>>

/** What routes that are for people too ask of the side that serves workers. */
export interface WorkerSide {
  /** What the holder of an attempt is to run, as a zip; null if no worker of the caller holds it. */
  files(id: string, caller: DialectCaller): Promise<Readable | null>
  /** A holder's word on its attempt; null if no worker of the caller holds it. */
  update(id: string, caller: DialectCaller, body: Body): Promise<Body | null>
  /** What it knows of a worker beyond what all workers have. */
  about(worker: WorkerState): Body
}

export function workerSide(context: TrainForgeContext, desk: Desk): WorkerSide {
  const { ledger, registrar, handOut, projects, reports } = desk

  /** Any call of a holder is a sign of life. */
  const heldBy = (id: string, caller: DialectCaller) => {
    const found = ledger.find(id)
    const isTheirs = found !== undefined && registrar.find(found.worker.id, { caller, address: '' }) !== undefined
    if (!isTheirs) return null
    registrar.hear(found.worker)
    return found
  }

  return {
    files: async (id, caller) => {
      const held = heldBy(id, caller)?.held
      if (held === undefined) return null
      await handOut.settled(held)
      const folder = await projects.folderOf(id)
      return folder === null ? null : zipFolder(folder, context.clock().wall)
    },
    update: async (id, caller, body) => {
      const found = heldBy(id, caller)
      if (found === null) return null
      await tell(found.worker, found.held, body)
      return { success: true, job_id: id }
    },
    about: ({ facts }) => aboutWorker(ledger.worker(facts.name)),
  }

  async function tell(worker: KnownWorker, held: Held, body: unknown): Promise<void> {
    const { status, message, error_message } = read(ClaimedStatusBody, body)
    if (status === 'running' || status === 'cancelled') return reports.take(worker, held.id, { status })
    const error = status === 'failed' ? (error_message ?? message ?? null) : null
    return reports.take(worker, held.id, { status, exitCodes: [], error, durationSeconds: null })
  }
}

function aboutWorker(worker: KnownWorker | undefined): Body {
  if (worker === undefined) return {}
  const { told, declines, conflict, settings } = worker
  return {
    ...(told.label === '' ? {} : { location: told.label }),
    python_version: told.python,
    declines,
    conflict,
    trust_gpus: settings.trustGpus,
    allow_docker: settings.allowDocker,
  }
}

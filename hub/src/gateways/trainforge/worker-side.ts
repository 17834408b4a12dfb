import type { Readable } from 'node:stream'
import { zipFolder } from '@stoker/files'
import type { WorkerState } from '../../engine/state.ts'
import { ClaimedStatusBody, read } from './bodies.ts'
import type { TrainForgeContext } from './context.ts'
import type { Desk } from './desk.ts'
import type { KnownWorker } from './ledger.ts'
import type { Held } from './rules/held.ts'

/** What routes that are for people too ask of the side that serves workers. */
export interface WorkerSide {
  /** What the holder of an attempt is to run, as a zip; null if no worker of this dialect holds it. */
  files(id: string): Promise<Readable | null>
  /** A holder's word on its attempt; null if nobody of this dialect holds it. */
  update(id: string, body: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>> | null>
  /** What it knows of a worker beyond what all workers have. */
  about(worker: WorkerState): Readonly<Record<string, unknown>>
}

export function workerSide(context: TrainForgeContext, { ledger, handOut, projects, reports }: Desk): WorkerSide {
  return {
    files: async id => {
      const held = ledger.find(id)?.held
      if (held === undefined) return null
      await handOut.settled(held)
      const folder = await projects.folderOf(id)
      return folder === null ? null : zipFolder(folder, context.clock().wall)
    },
    update: async (id, body) => {
      const found = ledger.find(id)
      if (found === undefined) return null
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

function aboutWorker(worker: KnownWorker | undefined): Readonly<Record<string, unknown>> {
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

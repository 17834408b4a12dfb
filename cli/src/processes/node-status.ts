import { join } from 'node:path'
import { readJsonOr } from '@stoker/files'
import { WORKER_STATUS_FILE, WorkerStatus } from '@stoker/protocol'
import { isRunning } from './local-workers.ts'

const REACH_MS = 3_000

/** What the worker of a folder that serves a TrainForge scheduler tells of itself; null where none runs. */
export async function nodeStatus(folder: string): Promise<Readonly<Record<string, unknown>> | null> {
  const read = await readJsonOr(join(folder, WORKER_STATUS_FILE), null).catch(() => null)
  const status = WorkerStatus.safeParse(read).data
  if (status?.node === undefined || !(await isRunning(status))) return null
  return { ...status.node, scheduler_reachable: await answers(status.hub) }
}

/** Any answer is one: what it says is the scheduler's affair. */
async function answers(url: string): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(REACH_MS), redirect: 'manual' })
    await reply.body?.cancel()
    return true
  } catch {
    return false
  }
}

import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { bootId, processStart, readJsonOr } from '@stoker/files'
import { WORKER_STATUS_FILE, WorkerStatus } from '@stoker/protocol'
import type { z } from 'zod'
import type { LocalWorker } from '../output/schemas.ts'

/**
 * The workers of this machine, known without asking a hub: those that run, found by their command lines, and those of the
 * given folders, running or not.
 */
export async function localWorkers(folders: readonly string[]): Promise<z.infer<typeof LocalWorker>[]> {
  const running = await runningWorkers()
  const known = folders.filter(folder => !running.some(one => one.folder === folder))
  const all = [...running, ...known.map(folder => ({ folder, pid: null }))]
  const seen = await Promise.all(all.map(({ folder, pid }) => look(folder, pid)))
  return seen.filter(worker => worker !== null)
}

async function look(folder: string, pid: number | null): Promise<z.infer<typeof LocalWorker> | null> {
  const read = await readJsonOr(join(folder, WORKER_STATUS_FILE), null).catch(() => null)
  const status = WorkerStatus.safeParse(read).data
  if (status !== undefined && (await isRunning(status))) {
    const { processStart: _, bootId: __, node: ___, ...shown } = status
    return { folder, state: shown.connectedSince === null ? 'away' : 'connected', ...shown }
  }
  if (pid !== null) return { folder, state: 'unreadable', pid }
  const identity = await readJsonOr(join(folder, 'identity.json'), null).catch(() => null)
  return identity === null ? null : { folder, state: 'stopped', pid: null }
}

/** The process that wrote the status, and no later one with its number. */
export async function isRunning({ pid, processStart: start, bootId: boot }: WorkerStatus): Promise<boolean> {
  return boot === (await bootId()) && (await processStart(pid)) === start
}

/** Where there is no /proc only the folders one knows can be looked at. */
async function runningWorkers(): Promise<{ folder: string; pid: number }[]> {
  const names = await readdir('/proc').catch(() => [])
  const found = await Promise.all(names.filter(name => /^\d+$/.test(name)).map(workerOf))
  return found.filter(one => one !== null)
}

async function workerOf(name: string): Promise<{ folder: string; pid: number } | null> {
  const words = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split('\0')
  const data = words.indexOf('--data')
  const isWorker = words.slice(1, 4).some(word => basename(word) === 'worker.js')
  const folder = words[data + 1]
  if (!isWorker || data === -1 || folder === undefined) return null
  const cwd = await readlink(`/proc/${name}/cwd`).catch(() => '/')
  return { folder: resolve(cwd, folder), pid: Number(name) }
}

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { folderOwner, freeBytes } from '@stoker/files'
import { type Finding, Findings, formatSize } from '@stoker/protocol'
import type { Io } from '../io.ts'
import { programFile } from '../processes/program.ts'
import { ok } from './findings.ts'

/** Sandboxes are really started, and a driver may take its time. */
const PATIENCE_MS = 60_000
/** Below this the hub refuses new jobs. */
const HUB_NEEDS_BYTES = 256e6

/** What a worker would find on this machine; a program of its own looks, as the worker's are. */
export async function machineFindings(io: Io, data: string): Promise<Finding[]> {
  const args = [programFile(io.programs, 'doctor'), '--data', join(data, 'worker')]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: PATIENCE_MS })
  return Findings.parse(JSON.parse(stdout)).findings
}

/** The data of a hub that lives on this machine; nothing where none does. */
export async function hubFolderFindings(data: string): Promise<Finding[]> {
  const folder = join(data, 'hub')
  if (!existsSync(join(folder, 'stoker.db'))) return []
  const [owner, { freeBytes: free }] = await Promise.all([folderOwner(folder), freeBytes(folder)])
  const runs = owner === null ? `no hub runs on ${folder} now` : `a hub runs on ${folder} as process ${owner.pid}`
  const room = `${formatSize(free)} free in ${folder}`
  const todo = 'make room: new jobs are refused below 256 MB'
  return [
    ok('hub process', runs),
    free < 2 * HUB_NEEDS_BYTES ? { check: 'hub disk', level: 'bad', text: room, todo } : ok('hub disk', room),
  ]
}

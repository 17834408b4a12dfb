import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { folderOwner, freeBytes, processStart, readJsonOr } from '@stoker/files'
import { type Finding, formatSize } from '@stoker/protocol'
import { z } from 'zod'
import { checkSocketPath } from '../executors/line-channel.ts'

/** What a keeper writes down while it holds an attempt. */
const Held = z.object({ key: z.string(), pid: z.int(), start: z.string() })

const SCARCE_BYTES = 5e9
const TOO_LITTLE_BYTES = 500e6
/** A worker holds some descriptors per program and connection. */
const FEW_FILES = 4096

/** The worker's data folder, the room around it, and what an earlier worker left in it. */
export async function examineFolder(folder: string): Promise<Finding[]> {
  const owner = await folderOwner(folder)
  return [
    ownerFinding(folder, owner),
    ...(owner === null ? await leftKeepers(folder) : []),
    ...pathFinding(folder),
    await diskFinding('disk', nearestExisting(folder)),
    await diskFinding('temp', tmpdir()),
    await filesFinding(),
  ]
}

function ownerFinding(folder: string, owner: Awaited<ReturnType<typeof folderOwner>>): Finding {
  if (owner !== null) return ok('worker', `a worker runs on ${folder} as process ${owner.pid}, since ${owner.since}`)
  return ok('worker', existsSync(folder) ? `no worker runs on ${folder} now` : `${folder} is not used yet`)
}

/** Keepers without a worker wait five minutes for one, then they end their programs. */
async function leftKeepers(folder: string): Promise<Finding[]> {
  const run = join(folder, 'run')
  const names = (await readdir(run).catch(() => [])).filter(name => /^k\d+\.json$/.test(name))
  const records = await Promise.all(names.map(name => readJsonOr(join(run, name), null).catch(() => null)))
  const held = records.flatMap(record => Held.safeParse(record).data ?? [])
  const alive = await Promise.all(held.map(async ({ pid, start }) => (await processStart(pid)) === start))
  const count = alive.filter(Boolean).length
  if (count === 0) return []
  const text = `${count} ${count === 1 ? 'program goes' : 'programs go'} on without a worker, for five minutes at most`
  return [{ check: 'keepers', level: 'warn', text, todo: 'start the worker again: it takes them over' }]
}

function pathFinding(folder: string): Finding[] {
  try {
    checkSocketPath(join(folder, 'run', 'k10000.sock~'))
    return []
  } catch (error) {
    return [{ check: 'path', level: 'bad', text: String((error as Error).message), todo: 'choose another with --data' }]
  }
}

async function diskFinding(check: string, folder: string): Promise<Finding> {
  const { freeBytes: free } = await freeBytes(folder)
  const text = `${formatSize(free)} free in ${folder}`
  if (free >= SCARCE_BYTES) return ok(check, text)
  return { check, level: free < TOO_LITTLE_BYTES ? 'bad' : 'warn', text, todo: 'make room: programs write there' }
}

async function filesFinding(): Promise<Finding> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const most = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN)
  if (!(most < FEW_FILES))
    return ok('files', Number.isNaN(most) ? 'no limit of open files found' : `${most} open files allowed`)
  const todo = 'raise it: ulimit -n 65536, or LimitNOFILE=65536 in the systemd unit'
  return { check: 'files', level: 'warn', text: `only ${most} open files allowed, ${FEW_FILES} are wise`, todo }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder))
}

function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text, todo: null }
}

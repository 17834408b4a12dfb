import { existsSync } from 'node:fs'
import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FolderLock, FolderLocked, hasCode, lockFolder } from '@stoker/files'

const FIRST_UID = 200_000
const BLOCK_SIZE = 1000
const BLOCKS = 4000
const CLAIMS = '/run/stoker/uids'
/** A claim takes milliseconds. */
const LOCK_TRIES = 500
const LOCK_PAUSE_MS = 20

export interface UidRangeOptions {
  readonly workerId: string
  /** The worker's data folder: a claim ends when it is gone. */
  readonly folder: string
  readonly slots: number
  /** Where the workers of this machine agree on their blocks; emptied by a restart of the machine, like the processes are. */
  readonly claims?: string | undefined
}

/**
 * The first of as many uids as a root worker has slots, which no other worker of this machine has. A claim outlives its
 * worker, as programs do, and the same worker finds it again. Where claims cannot be kept, the worker's id alone decides.
 */
export async function claimUids(of: UidRangeOptions): Promise<number> {
  const { slots, claims = CLAIMS } = of
  const needed = Math.ceil(slots / BLOCK_SIZE)
  const places = BLOCKS - needed + 1
  const preferred = Number.parseInt(of.workerId.replaceAll('-', '').slice(-6), 16) % places
  const lock = await lockClaims(claims)
  if (lock === null) return uidOf(preferred)
  try {
    const owners = await readClaims(claims)
    const isFree = (block: number) => (owners.get(block) ?? of.workerId) === of.workerId
    for (let i = 0; i < places; i += 1) {
      const blocks = Array.from({ length: needed }, (_, j) => ((preferred + i) % places) + j)
      if (!blocks.every(isFree)) continue
      for (const block of blocks) if (!owners.has(block)) await symlink(claimText(of), join(claims, String(block)))
      return uidOf((preferred + i) % places)
    }
  } finally {
    await lock.release()
  }
  throw new Error(`a root worker needs ${needed * BLOCK_SIZE} user ids of its own, all are claimed in ${claims}`)
}

/** Null where the folder cannot be made: a container may have no place that all workers see. */
async function lockClaims(claims: string): Promise<FolderLock | null> {
  try {
    await mkdir(claims, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (hasCode(error, 'EROFS', 'EACCES', 'EPERM')) return null
    throw error
  }
  for (let left = LOCK_TRIES; ; left -= 1) {
    try {
      return await lockFolder(claims)
    } catch (error) {
      if (!(error instanceof FolderLocked) || left === 0) throw error
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

/** Who has which block, without those whose folder is gone. */
async function readClaims(claims: string): Promise<ReadonlyMap<number, string>> {
  const owners = new Map<number, string>()
  for (const name of await readdir(claims)) {
    if (!/^\d+$/.test(name)) continue
    const [, workerId, folder] = /^([^:]+):(.*)$/s.exec(await readlink(join(claims, name))) ?? []
    if (workerId === undefined || folder === undefined || !existsSync(folder)) await rm(join(claims, name))
    else owners.set(Number(name), workerId)
  }
  return owners
}

function claimText({ workerId, folder }: UidRangeOptions): string {
  return `${workerId}:${folder}`
}

function uidOf(block: number): number {
  return FIRST_UID + block * BLOCK_SIZE
}

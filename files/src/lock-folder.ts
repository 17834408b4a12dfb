import { randomBytes } from 'node:crypto'
import { readlink, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, unlessAbsent } from './absent.ts'
import { bootId, processStart } from './process-identity.ts'

/*
 * A claim is a symbolic link whose target is the owner's record: it appears whole or not at all, and only once per name.
 * `lock` holds the first claim. The successor of a dead claim with nonce N is `lock.N`, so only one taker can ever
 * succeed it; the owner is the last claim of the chain. Nonces never come again, so a taker that slept through a
 * change makes a claim nothing leads to: it finds that out by walking the chain once more, and starts over.
 *
 *   no lock ──link lock──► owned ──release──► no lock
 *   dead    ──link lock.N, still reachable──► owned ──rename lock.N to lock──► owned, chain is one long again
 */

/** Ownership of the folder by this process; it also ends, unasked, with the process. */
export interface FolderLock {
  release(): Promise<void>
}

/** Another live process owns the folder; pid and since say which. */
export class FolderLocked extends Error {
  readonly folder: string
  readonly pid: number
  readonly since: string

  constructor(folder: string, owner: { readonly pid: number; readonly since: string }) {
    super(`${folder} can have one owner, process ${owner.pid} has owned it since ${owner.since}`)
    this.name = 'FolderLocked'
    this.folder = folder
    this.pid = owner.pid
    this.since = owner.since
  }
}

interface Claim {
  readonly nonce: string
  readonly pid: number
  readonly start: string
  readonly boot: string
  readonly since: string
}

/** Holds among processes of one machine that see each other's pids; a claim of a dead process is taken over. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const mine = await newClaim()
  while (!(await tryTake(folder, mine))) {
    // Lost against another taker, who made progress: look again.
  }
  let released: Promise<void> | undefined
  return {
    release: () => {
      released ??= release(folder, mine)
      return released
    },
  }
}

/** The live process that owns the folder now, if one does. */
export async function folderOwner(folder: string): Promise<{ readonly pid: number; readonly since: string } | null> {
  const last = (await readChain(folder)).at(-1)
  if (last === undefined || !(await isAlive(last, await bootId()))) return null
  return { pid: last.pid, since: last.since }
}

async function tryTake(folder: string, mine: Claim): Promise<boolean> {
  const before = await readChain(folder)
  const last = before.at(-1)
  if (last !== undefined && (await isAlive(last, mine.boot))) throw new FolderLocked(folder, last)
  const path = last === undefined ? rootOf(folder) : successorOf(folder, last)
  if (!(await makeClaim(path, mine))) return false
  const after = await readChain(folder)
  if (after.at(-1)?.nonce !== mine.nonce) {
    await rm(path, { force: true })
    return false
  }
  if (last !== undefined) await shorten(folder, path, before)
  return true
}

/** The rename makes this claim the first; only then may the links between go, as nothing leads to them any more. */
async function shorten(folder: string, path: string, dead: readonly Claim[]): Promise<void> {
  await rename(path, rootOf(folder))
  for (const claim of dead.slice(0, -1)) await rm(successorOf(folder, claim), { force: true })
}

async function release(folder: string, mine: Claim): Promise<void> {
  const root = await readClaim(rootOf(folder))
  if (root?.nonce === mine.nonce) await rm(rootOf(folder), { force: true })
}

/** A first claim that is still the first afterwards was so all the time, so what was read behind it belongs together. */
async function readChain(folder: string): Promise<Claim[]> {
  for (;;) {
    const chain = await walkChain(folder)
    const first = await readClaim(rootOf(folder))
    if (first?.nonce === chain[0]?.nonce) return chain
  }
}

async function walkChain(folder: string): Promise<Claim[]> {
  const chain: Claim[] = []
  let claim = await readClaim(rootOf(folder))
  while (claim !== null) {
    chain.push(claim)
    claim = await readClaim(successorOf(folder, claim))
  }
  return chain
}

async function readClaim(path: string): Promise<Claim | null> {
  const target = await unlessAbsent(readlink(path)).catch(cause => {
    throw new Error(`${path} should be a lock, it is something else`, { cause })
  })
  if (target === null) return null
  const [nonce, pid, start, boot, since] = target.split(',')
  if (!nonce || !pid || !start || !boot || !since) throw new Error(`${path} should be a lock, it links to ${target}`)
  return { nonce, pid: Number(pid), start, boot, since }
}

async function makeClaim(path: string, { nonce, pid, start, boot, since }: Claim): Promise<boolean> {
  try {
    await symlink([nonce, pid, start, boot, since].join(','), path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

async function newClaim(): Promise<Claim> {
  const [start, boot] = await Promise.all([processStart(process.pid), bootId()])
  if (start === null) throw new Error(`process ${process.pid} runs, but the system shows no start time for it`)
  const since = new Date().toISOString()
  return { nonce: randomBytes(8).toString('hex'), pid: process.pid, start, boot, since }
}

async function isAlive(claim: Claim, boot: string): Promise<boolean> {
  return claim.boot === boot && (await processStart(claim.pid)) === claim.start
}

function rootOf(folder: string): string {
  return join(folder, 'lock')
}

function successorOf(folder: string, claim: Claim): string {
  return join(folder, `lock.${claim.nonce}`)
}

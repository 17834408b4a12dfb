import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ChunkRow, SealedRow } from '@stoker/protocol'
import { checkBlobs } from './outputs/artifacts/disk/check-blobs.ts'
import { checkStreams } from './outputs/disk/check-streams.ts'
import type { Store } from './store/port.ts'
import { type VerifyReport, verifyData } from './verify/verify-data.ts'
import { withStore } from './with-store.ts'

const JOBS_AT_ONCE = 1000

/** Checks the guarantees on a data folder and prints what was found; true if nothing is wrong. A running hub's folder is checked by a copy of its database. */
export async function verifyFolder(data: string, json: boolean): Promise<boolean> {
  const folder = resolve(data)
  if (!(await readdir(folder)).includes('stoker.db'))
    throw new Error(`${folder} holds no hub: there is no stoker.db in it`)
  const check = (store: Store) => verifyAll(store, join(folder, 'outputs'))
  const report = await withStore(folder, (store, isGuest) => (isGuest ? withCopy(folder, store, check) : check(store)))
  const isSound = report.problems.length === 0
  process.stdout.write(json ? `${JSON.stringify({ sound: isSound, ...report })}\n` : human(report))
  return isSound
}

/** What a running hub writes would change under the check, so its database is copied first. */
async function withCopy<T>(folder: string, running: Store, use: (store: Store) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(folder, 'verify-'))
  try {
    await running.backup(join(copy, 'stoker.db'))
    return await withStore(copy, use)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function verifyAll(store: Store, outputs: string): Promise<VerifyReport> {
  const report = await verifyData({ store })
  const damaged = [...(await damagedOutput(store, outputs)), ...(await damagedContent(store, join(outputs, 'blobs')))]
  return {
    ...report,
    problems: [...report.problems, ...damaged.map(text => ({ guarantee: 'f' as const, text, n: null }))],
  }
}

/** Every stored byte is read and held against its checksum, a slice of jobs at a time. */
async function damagedOutput({ queries }: Store, outputs: string): Promise<string[]> {
  const found: string[] = []
  for (const table of ['chunk', 'sealed'] as const) {
    for (let after = 0; ; ) {
      const rows = await queries.scan(table, after, JOBS_AT_ONCE)
      const last = rows.at(-1)
      if (last === undefined) break
      const problems = await checkStreams(outputs, {
        chunks: table === 'chunk' ? (rows as readonly ChunkRow[]) : [],
        sealed: table === 'sealed' ? (rows as readonly SealedRow[]) : [],
      })
      found.push(...problems.filter(({ kind }) => kind === 'damaged' || kind === 'beyond-file').map(({ text }) => text))
      after = last.job
    }
  }
  return found
}

/** All content is read and held against its hash; what artifacts name must be among it. */
async function damagedContent({ queries }: Store, folder: string): Promise<string[]> {
  const found: string[] = []
  for (let after = { owner: '', sha256: '' }; ; ) {
    const rows = await queries.blobsAfter(after.owner, after.sha256, JOBS_AT_ONCE)
    const last = rows.at(-1)
    if (last === undefined) return found
    found.push(...(await checkBlobs(folder, rows)))
    after = last
  }
}

function human({ problems, notes, commits, changes, jobs, chunks }: VerifyReport): string {
  const counted = `${commits} commits with ${changes} changes, ${jobs} jobs, ${chunks} pieces of output checked`
  const told = problems.map(
    ({ guarantee, text, n }) => `guarantee ${guarantee}${n === null ? '' : `, commit ${n}`}: ${text}`,
  )
  const verdict = problems.length === 0 ? 'nothing is wrong' : `${problems.length} things are wrong`
  return [...notes.map(note => `note: ${note}`), ...told, `${counted}: ${verdict}`].map(line => `${line}\n`).join('')
}

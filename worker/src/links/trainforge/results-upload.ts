import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { packZip } from '@stoker/files'
import { formatSize } from '@stoker/protocol'
import { HubAway, type HubCalls, isFine, isTemporary } from '../foreign/hub-calls.ts'
import { leftFiles } from '../foreign/left-files.ts'
import { textOf } from '../foreign/text-of.ts'

const STALL_MS = 60_000
const MAX_RESULTS_BYTES = 2e9

export interface Results {
  readonly id: string
  readonly folder: string
  readonly startedAt: number
  /** Where the archive is made; gone again afterwards. */
  readonly archive: string
  readonly signal: AbortSignal
}

/** Sends what the program wrote as one zip. Null when it is there, or there is nothing; else why the hub does not have it. */
export async function uploadResults(calls: HubCalls, of: Results): Promise<string | null> {
  try {
    return await packAndSend(calls, of)
  } catch (error) {
    of.signal.throwIfAborted()
    if (error instanceof HubAway) throw error
    return `its files could not be read: ${textOf(error)}`
  }
}

async function packAndSend(calls: HubCalls, of: Results): Promise<string | null> {
  const { files, count } = await leftFiles(of.folder, { sinceMs: of.startedAt })
  if (files.length === 0) return null
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (bytes > MAX_RESULTS_BYTES)
    return `its ${count} files have ${formatSize(bytes)}, at most ${formatSize(MAX_RESULTS_BYTES)} are sent`
  try {
    const size = await packZip(
      join(of.folder, 'work'),
      files.map(({ path }) => path),
      of.archive,
    )
    const missing = count > files.length ? `only ${files.length} of its ${count} files were sent` : null
    return (await send(calls, of, size)) ?? missing
  } finally {
    await rm(of.archive, { force: true })
  }
}

async function send(calls: HubCalls, { id, archive, signal }: Results, size: number): Promise<string | null> {
  // A program that could guess it would write the rest of the form itself.
  const boundary = `stoker-${randomBytes(16).toString('hex')}`
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="results_zip"; filename="results.zip"\r\n` +
      'Content-Type: application/zip\r\n\r\n',
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield head
    for await (const part of createReadStream(archive)) yield part as Buffer
    yield tail
  }
  const answer = await calls.send({
    method: 'POST',
    path: `/api/jobs/${encodeURIComponent(id)}/results`,
    body: {
      type: `multipart/form-data; boundary=${boundary}`,
      length: head.length + size + tail.length,
      bytes: bytes(),
    },
    timeoutMs: STALL_MS,
    signal,
  })
  if (isTemporary(answer.status)) throw new HubAway(`its results were answered with ${answer.status}`)
  return isFine(answer.status) ? null : `the hub does not take results: it answered ${answer.status}`
}

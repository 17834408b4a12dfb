import { mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@stoker/client'
import { ArchiveRefused, type LeavesOut, openFileContent, packFolder } from '@stoker/files'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { fileTarget, type LocalFile, parseFileEntry, parseFileOption } from './local-file.ts'
import type { TransferLine } from './transfer-line.ts'

type Spec = Readonly<Record<string, unknown>>

export interface SentSpec {
  readonly spec: Spec
  /** Files of the person's folder as they were sent, by path; null if that folder was not sent as a whole. */
  readonly sent: ReadonlyMap<string, string> | null
}

/** Packs and uploads what a spec and the command line name of this machine, and puts its hash in its place. */
export async function sendFiles(
  client: Client,
  { spec, folder }: { readonly spec: Spec; readonly folder: string },
  options: readonly string[],
  here: string,
  line: TransferLine,
): Promise<SentSpec> {
  const given = Array.isArray(spec.files) ? spec.files : []
  const local = given.map(entry => parseFileEntry(entry, folder))
  const added = options.map(text => parseFileOption(text, here))
  if (local.every(one => one === null) && added.length === 0) return { spec, sent: null }
  // Uploads wait for a hub that is away; one that was never there is said at once.
  await client.health()
  const files: unknown[] = []
  let sent: ReadonlyMap<string, string> | null = null
  for (const [index, one] of [...local, ...added].entries()) {
    if (one === null) files.push(given[index])
    else {
      const { entry, packed } = await send(client, one, line)
      files.push(entry)
      if (packed !== null && one.to === '.' && one.from === here) sent = packed
    }
  }
  return { spec: { ...spec, files }, sent }
}

/** Uploads a file, or a folder as one archive; `leavesOut` names what stays behind of a folder. */
export async function send(client: Client, file: LocalFile, line: TransferLine, leavesOut?: LeavesOut) {
  const found = await stat(file.from).catch(cause => {
    throw refused(file, cause.code === 'ENOENT' ? 'it does not exist' : cause.message, cause)
  })
  if (!found.isDirectory()) return { entry: await sendFile(client, file, line), packed: null }
  if (file.unpack !== undefined) throw refused(file, 'a folder is not unpacked', undefined)
  const scratch = await mkdtemp(join(tmpdir(), 'stoker-send-'))
  try {
    line.say(`packing ${file.written}`)
    const archive = join(scratch, 'folder.tar')
    const { sha256, size, files } = await packFolder(file.from, archive, leavesOut).catch(cause => {
      throw cause instanceof ArchiveRefused ? refused(file, cause.message, cause) : cause
    })
    const content = await openFileContent(archive, { name: file.written, sha256 })
    await line.during(`sending ${file.written}`, size, onBytes =>
      client.uploadBlob(content, { onBytes }).finally(content.close),
    )
    return { entry: { path: file.to, sha256, size, unpack: 'tar' }, packed: files }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function sendFile(client: Client, file: LocalFile, line: TransferLine) {
  const content = await openFileContent(await realpath(file.from), { name: file.written })
  const { sha256, size, executable } = content
  await line.during(`sending ${file.written}`, size, onBytes =>
    client.uploadBlob(content, { onBytes }).finally(content.close),
  )
  if (file.unpack !== undefined) return { path: file.to, sha256, size, unpack: file.unpack }
  return { path: fileTarget(file), sha256, size, ...(executable ? { executable } : {}) }
}

function refused(file: LocalFile, reason: string, cause: unknown): Failure {
  return new Failure(`${file.written} cannot be sent: ${reason}`, {
    exitCode: EXIT.usage,
    code: 'files.invalid',
    cause,
  })
}

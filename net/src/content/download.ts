import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { Patience } from './patience.ts'
import { type ContentName, ContentRefused, type ContentReply, type ContentSend, refusalOf } from './port.ts'
import type { TransferOptions } from './upload.ts'

const READ_BYTES = 1024 * 1024
/** Bytes that came and were wrong: once may be an accident on the way or on the disk. */
const MAX_WRONG = 2

/**
 * Fills a file with content, going on where an earlier try, also of another process, left it. Resolves when the file holds
 * exactly what the name says and is synced; until then it is only a part, under a name nobody else should use.
 */
export async function downloadContent(
  send: ContentSend,
  content: ContentName,
  file: string,
  options: TransferOptions = {},
): Promise<void> {
  const handle = await open(file, 'a+', 0o600)
  try {
    const part = await PartialFile.read(handle, content)
    const patience = new Patience(options)
    for (let wrong = 0; ; ) {
      options.onBytes?.(part.size)
      if (part.size === content.size) {
        if (part.sha256() === content.sha256) break
        wrong += 1
        if (wrong === MAX_WRONG)
          throw new Error(`content ${content.sha256} came ${wrong} times with another hash: it is damaged over there`)
        await part.restart()
      }
      const before = part.size
      try {
        await fetchRest(send, content, part, options)
        patience.moved()
      } catch (error) {
        if (part.size > before) patience.moved()
        await patience.wait(error, false)
      }
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function fetchRest(send: ContentSend, content: ContentName, part: PartialFile, options: TransferOptions) {
  const range = part.size === 0 ? {} : { range: `bytes=${part.size}-`, 'if-range': `"${content.sha256}"` }
  const reply = await send({ method: 'GET', headers: range, signal: options.signal })
  if (reply.status === 416) {
    await reply.text()
    return part.restart()
  }
  if (reply.status !== 200 && reply.status !== 206) throw await refusalOf(reply)
  if (reply.status === 200 && part.size > 0) await part.restart()
  if (reply.status === 206) checkRange(reply, part.size)
  for await (const bytes of reply.bytes) {
    if (part.size + bytes.length > content.size)
      throw new ContentRefused(200, '', `content ${content.sha256} has ${content.size} bytes, more came`)
    await part.append(bytes)
    options.onBytes?.(part.size)
    await options.bandwidth?.take(bytes.length, options.signal)
  }
  if (part.size < content.size)
    throw new Error(`content ${content.sha256} has ${content.size} bytes, the answer ended after ${part.size}`)
}

function checkRange(reply: ContentReply, from: number): void {
  const first = /^bytes (\d+)-/.exec(reply.header('content-range') ?? '')?.[1]
  if (first === undefined || Number(first) !== from)
    throw new Error(`bytes from ${from} were asked for, the answer begins at ${first ?? 'an unknown place'}`)
}

/** The bytes so far and their hash, which always belong together. */
class PartialFile {
  readonly #handle: FileHandle
  #hash: Hash = createHash('sha256')
  #size = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async read(handle: FileHandle, { size }: ContentName): Promise<PartialFile> {
    const part = new PartialFile(handle)
    if ((await handle.stat()).size > size) await part.restart()
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, part.#size)
      if (bytesRead === 0) return part
      part.#hash.update(buffer.subarray(0, bytesRead))
      part.#size += bytesRead
    }
  }

  get size(): number {
    return this.#size
  }

  sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; )
      written += (await this.#handle.write(bytes, written, bytes.length - written, null)).bytesWritten
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  async restart(): Promise<void> {
    await this.#handle.truncate(0)
    this.#hash = createHash('sha256')
    this.#size = 0
  }
}

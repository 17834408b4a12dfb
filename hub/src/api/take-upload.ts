import type { IncomingMessage } from 'node:http'
import { formatSize, Refused } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type BlobKey, type Blobs, UploadCut, WrongOffset } from '../outputs/artifacts/port.ts'
import { refuseTooMuch } from '../outputs/artifacts/refuse-too-much.ts'
import { DiskFullOutputs } from '../outputs/port.ts'
import { cutWhenSilent } from '../serving/cut-when-silent.ts'
import { gatherBody } from './gather-body.ts'

/** Above any model or dataset file one job takes; below what would fill the disk of most hubs. */
const MAX_BLOB_BYTES = 256 * 2 ** 30
const CONTENT_RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/
/** All bytes are here already, only their end was not told: a hub that was killed between the two is asked to finish. */
const NOTHING_MORE = /^bytes \*\/(\d{1,15})$/

interface Piece {
  readonly size: number
  readonly first: number
  readonly length: number
}

/** Takes content or a piece of it. Whatever is answered, the rest of the body is read and dropped, so that the answer arrives. */
export async function takeUpload(
  blobs: Blobs,
  request: FastifyRequest,
  reply: FastifyReply,
  key: BlobKey,
  mostBytes: number | null,
): Promise<FastifyReply> {
  try {
    const piece = pieceOf(request)
    await refuseTooMuch(blobs, key, piece.size, mostBytes)
    const done = await blobs.put({ ...key, ...piece, body: bodyOf(request.raw) })
    if ('stored' in done) return reply.code(201).send({ sha256: key.sha256, size: done.stored.size })
    return reply.code(202).header('upload-offset', done.offset).send({ offset: done.offset })
  } catch (error) {
    if (error instanceof WrongOffset) reply.header('upload-offset', error.stored)
    if (error instanceof UploadCut) throw new Refused('request.invalid', error.message)
    if (error instanceof DiskFullOutputs)
      throw new Refused('disk.full', 'the disk of the hub became full; nothing of it was kept')
    throw error
  } finally {
    request.raw.resume()
  }
}

function pieceOf({ headers }: FastifyRequest): Piece {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new Refused('request.unsupported', `the content came encoded as "${encoding}"; the hub takes it as it is`)
  const said = headers['content-length'] === undefined ? null : Number(headers['content-length'])
  const piece = headers['content-range'] === undefined ? wholeOf(said) : rangeOf(headers['content-range'], said)
  if (piece.size > MAX_BLOB_BYTES) {
    const [given, most] = [piece.size, MAX_BLOB_BYTES].map(bytes => `${bytes} bytes (${formatSize(bytes)})`)
    throw new Refused('request.too_large', `the content has ${given}, at most ${most} are taken`)
  }
  return piece
}

function wholeOf(said: number | null): Piece {
  if (said === null)
    throw new Refused(
      'request.invalid',
      'an upload says its size: with content-length, or in content-range for a piece',
    )
  return { size: said, first: 0, length: said }
}

function rangeOf(header: string, said: number | null): Piece {
  const whole = NOTHING_MORE.exec(header)?.[1]
  if (whole !== undefined && (said ?? 0) === 0) return { size: Number(whole), first: Number(whole), length: 0 }
  const [first, last, size] = (CONTENT_RANGE.exec(header) ?? []).slice(1).map(Number)
  if (first === undefined || last === undefined || size === undefined || first > last || last >= size) {
    throw new Refused(
      'request.invalid',
      `content-range: found ${JSON.stringify(header.slice(0, 80))}; allowed: bytes <first>-<last>/<size>, or bytes */<size> without a body`,
    )
  }
  const length = last - first + 1
  if (said !== null && said !== length)
    throw new Refused('request.invalid', `content-range announces ${length} bytes, content-length ${said}`)
  return { size, first, length }
}

/** The body as it comes; a sender that falls silent breaks it off, and what came of it is kept. */
async function* bodyOf(raw: IncomingMessage): AsyncGenerator<readonly Uint8Array[], void> {
  const release = cutWhenSilent(raw)
  try {
    yield* gatherBody(raw)
  } finally {
    release()
  }
}

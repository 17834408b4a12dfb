import { Refused } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BlobKey, Blobs } from '../outputs/artifacts/port.ts'
import { namesTag, parseRange } from './range.ts'

export interface Content extends BlobKey {
  readonly size: number
  readonly type: string
  /** A name to save it under; null lets a browser show it. */
  readonly saveAs: string | null
}

/** Answers GET and HEAD of stored bytes: whole, one range, or nothing when the asker has them. Pulled by the reader, so a slow one costs a buffer. */
export async function sendContent(
  blobs: Blobs,
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
): Promise<FastifyReply> {
  const { size } = content
  const tag = `"${content.sha256}"`
  reply.header('etag', tag).header('accept-ranges', 'bytes').header('cache-control', 'private, no-cache')
  const { headers, method } = request
  if (namesTag(headers['if-none-match'], tag)) return reply.code(304).send()
  const isSame = headers['if-range'] === undefined || headers['if-range'] === tag
  const range = method === 'GET' && isSame ? parseRange(headers.range, size) : null
  if (range === 'outside') {
    reply.header('content-range', `bytes */${size}`)
    throw new Refused('range.unsatisfiable', `the range ${headers.range} was asked for, the content has ${size} bytes`)
  }
  const { first, last } = range ?? { first: 0, last: size - 1 }
  reply
    .code(range === null ? 200 : 206)
    .header('content-length', last - first + 1)
    .header('content-type', content.type)
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "sandbox; default-src 'none'")
  if (content.saveAs !== null) reply.header('content-disposition', attachment(content.saveAs))
  if (range !== null) reply.header('content-range', `bytes ${first}-${last}/${size}`)
  if (method === 'HEAD' || last < first) return reply.send('')
  return reply.send(await blobs.read(content, first, last))
}

/** Quotes and what is not ASCII would end or garble the header: they are encoded. */
export function attachment(name: string): string {
  const encoded = encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, '')).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}

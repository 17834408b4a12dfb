import { request } from 'node:http'
import { sha256 } from '@stoker/files'
import type { Answer, TestHub } from './test-hub.ts'

export interface PutOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly path?: string | undefined
  readonly name?: string | undefined
  /** Where the piece begins, and the size of the whole. */
  readonly piece?: { readonly first: number; readonly size: number } | undefined
}

/** Sends bytes, named by their hash unless told otherwise. */
export async function put(hub: TestHub, bytes: Uint8Array, options: PutOptions = {}): Promise<Answer> {
  const { piece, name = sha256(bytes), path = `/api/v1/blobs/${name}` } = options
  const reply = await fetch(hub.url + path, {
    method: 'PUT',
    body: Buffer.from(bytes),
    headers: {
      authorization: `Bearer ${hub.admin}`,
      'content-type': 'application/octet-stream',
      ...(piece === undefined ? {} : { 'content-range': rangeOf(piece.first, bytes.length, piece.size) }),
      ...options.headers,
    },
  })
  const text = await reply.text()
  const type = reply.headers.get('content-type') ?? ''
  return { status: reply.status, type, headers: reply.headers, text, json: text === '' ? null : JSON.parse(text) }
}

/** Announces all the bytes, sends some, and breaks the connection off when told. */
export async function putAndBreakOff(
  hub: Pick<TestHub, 'url' | 'admin'>,
  bytes: Uint8Array,
  sentBytes: number,
  whenToBreak: () => Promise<void>,
): Promise<void> {
  const sent = request(`${hub.url}/api/v1/blobs/${sha256(bytes)}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${hub.admin}`,
      'content-type': 'application/octet-stream',
      'content-length': bytes.length,
    },
  })
  const over = new Promise<void>((resolve, reject) => {
    sent.on('error', () => resolve())
    sent.on('response', reply => reject(new Error(`an unfinished upload was answered ${reply.statusCode}`)))
  })
  sent.write(bytes.subarray(0, sentBytes))
  await whenToBreak()
  sent.destroy(new Error('broken off'))
  await over
}

export function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  let x = seed
  for (let i = 0; i < length; i++) {
    x = (x * 1_103_515_245 + 12_345) % 2_147_483_648
    bytes[i] = x >> 16
  }
  return bytes
}

function rangeOf(first: number, length: number, size: number): string {
  return `bytes ${first}-${first + length - 1}/${size}`
}

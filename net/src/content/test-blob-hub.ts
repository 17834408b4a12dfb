import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What goes wrong with one request; `afterBytes` counts bytes of its body, or of the answer's. */
export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly code?: string }
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'corrupt' }
  | { readonly kind: 'silent' }

export interface BlobRequest {
  readonly method: string
  readonly path: string
  readonly sha256: string
  readonly headers: IncomingMessage['headers']
}

/** The hub's contract for content over real HTTP, kept strictly; a test may cut, corrupt, silence or refuse any request. */
export async function startBlobHub(wantedPort = 0) {
  const blobs = new Map<string, Buffer>()
  const partial = new Map<string, Buffer>()
  const seen: BlobRequest[] = []
  const state: { fault: (request: BlobRequest) => Fault | null; maxBytes: number } = {
    fault: () => null,
    maxBytes: 1e12,
  }
  const server = createServer((request, response) => void handle(request, response).catch(() => request.destroy()))
  await new Promise<void>(resolve => server.listen(wantedPort, '127.0.0.1', resolve))

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const sha256 = /^\/api\/v1\/(?:attempts\/\d+-\d+-\d+\/)?blobs\/([0-9a-f]{64})$/.exec(url)?.[1]
    if (sha256 === undefined || headers.authorization === undefined) return refuse(response, 404, 'route.not_found')
    const at = { method, path: url, sha256, headers }
    seen.push(at)
    const fault = state.fault(at)
    if (fault?.kind === 'silent') return
    if (fault?.kind === 'answer') {
      request.resume()
      return refuse(response, fault.status, fault.code ?? 'hub.broken')
    }
    if (method === 'HEAD') head(sha256, response)
    else if (method === 'GET') await get(at, response, fault)
    else await put(at, request, response, fault)
  }

  function head(sha256: string, response: ServerResponse): void {
    const whole = blobs.get(sha256)
    if (whole !== undefined)
      response.writeHead(200, { 'content-length': whole.length, etag: `"${sha256}"`, 'accept-ranges': 'bytes' }).end()
    else response.writeHead(404, { 'upload-offset': partial.get(sha256)?.length ?? 0 }).end()
  }

  async function get({ sha256, headers }: BlobRequest, response: ServerResponse, fault: Fault | null): Promise<void> {
    const whole = blobs.get(sha256)
    if (whole === undefined) return refuse(response, 404, 'blob.not_found')
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '')
    const isRange = range !== null && (headers['if-range'] ?? `"${sha256}"`) === `"${sha256}"`
    const first = isRange ? Number(range[1]) : 0
    if (first >= whole.length && isRange) return refuse(response, 416, 'request.invalid')
    const body = Buffer.from(whole.subarray(first))
    if (fault?.kind === 'corrupt' && body.length > 0) body[0] = (body[0] ?? 0) ^ 1
    response.writeHead(isRange ? 206 : 200, {
      'content-type': 'application/octet-stream',
      'content-length': body.length,
      etag: `"${sha256}"`,
      ...(isRange ? { 'content-range': `bytes ${first}-${whole.length - 1}/${whole.length}` } : {}),
    })
    if (fault?.kind !== 'cut') response.end(body)
    else response.write(body.subarray(0, fault.afterBytes), () => response.destroy())
  }

  async function put(at: BlobRequest, request: IncomingMessage, response: ServerResponse, fault: Fault | null) {
    const { sha256, headers } = at
    const length = Number(headers['content-length'])
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '')
    const whole = /^bytes \*\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]
    const first = Number(range?.[1] ?? whole ?? 0)
    const size = Number(range?.[3] ?? whole ?? length)
    if (blobs.has(sha256)) {
      request.resume()
      return answer(response, 200, { sha256, size })
    }
    const held = partial.get(sha256) ?? Buffer.alloc(0)
    if (size > state.maxBytes) return refuse(request.resume() && response, 413, 'request.too_large')
    if (first !== held.length) {
      request.resume()
      return refuse(response, 409, 'upload.offset', { 'upload-offset': held.length })
    }
    const body = await readBody(request, fault?.kind === 'cut' ? fault.afterBytes : null)
    const now = Buffer.concat([held, ...body.parts])
    partial.set(sha256, now)
    if (body.isCut) return void request.socket.destroy()
    if (body.bytes !== length || (range !== null && length !== Number(range[2]) - first + 1))
      return refuse(response, 400, 'request.invalid')
    if (now.length < size) return answer(response, 202, { offset: now.length })
    partial.delete(sha256)
    if (createHash('sha256').update(now).digest('hex') !== sha256 || fault?.kind === 'corrupt')
      return refuse(response, 422, 'upload.hash')
    blobs.set(sha256, now)
    answer(response, 201, { sha256, size })
  }

  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    blobs,
    partial,
    seen,
    add(data: string | Buffer) {
      const content = Buffer.from(data)
      const sha256 = createHash('sha256').update(content).digest('hex')
      blobs.set(sha256, content)
      return { sha256, size: content.length }
    },
    fail(fault: (request: BlobRequest) => Fault | null): void {
      state.fault = fault
    },
    limit(maxBytes: number): void {
      state.maxBytes = maxBytes
    },
    async close(): Promise<void> {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

export type BlobHub = Awaited<ReturnType<typeof startBlobHub>>

/** Each request that fits gets the next fault of the list, then none. */
export function faults(method: string, ...list: readonly (Fault | null)[]): (request: BlobRequest) => Fault | null {
  const left = [...list]
  return request => (request.method === method ? (left.shift() ?? null) : null)
}

function readBody(request: IncomingMessage, cutAfter: number | null) {
  const parts: Buffer[] = []
  let bytes = 0
  return new Promise<{ parts: Buffer[]; bytes: number; isCut: boolean }>((resolve, reject) => {
    const take = (part: Buffer) => {
      const room = cutAfter === null ? part.length : Math.min(part.length, cutAfter - bytes)
      parts.push(part.subarray(0, room))
      bytes += room
      if (cutAfter === null || bytes < cutAfter) return
      request.off('data', take)
      resolve({ parts, bytes, isCut: true })
    }
    request.on('data', take)
    request.on('error', reject)
    request.on('end', () => resolve({ parts, bytes, isCut: false }))
  })
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Readonly<Record<string, number>> = {},
): void {
  const problem = { type: 'about:blank', title: code, status, detail: `the test hub says ${code}`, code }
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify(problem))
}

import { nodeTransport } from '@stoker/client'
import type { ContentSend, Trust } from '@stoker/net'
import { type Fence, fenceKey } from '@stoker/protocol'

/** A connection that says nothing for this long is taken for dead and opened anew; bytes that move, however slowly, are not. */
const STALL_MS = 60_000

/** Content of attempts at a hub that speaks our own protocol; the hub gives and takes it only while the attempt is this worker's. */
export function nativeContent(
  hubUrl: string,
  { workerId, secret }: { readonly workerId: string; readonly secret: string },
  trust: Trust,
): (fence: Fence, sha256: string) => ContentSend {
  const transport = nodeTransport(hubUrl, trust)
  const authorization = `Worker ${workerId}:${secret}`
  return (fence, sha256) => {
    const path = `/api/v1/attempts/${fenceKey(fence)}/blobs/${sha256}`
    return request =>
      transport.send({ ...request, path, headers: { ...request.headers, authorization }, silenceMs: STALL_MS })
  }
}

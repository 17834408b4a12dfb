import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { sha256, TAR_END, tarFilling, tarHeader } from '@stoker/files'

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const CONFIG = 'application/vnd.docker.container.image.v1+json'
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip'

export interface RegistryImage {
  readonly layers: readonly { readonly path: string; readonly bytes: Uint8Array }[]
  readonly command: readonly string[]
}

export interface TestRegistry {
  readonly host: string
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[]
  /** Resolves when a reader of a slow blob went away. */
  readonly leftEarly: Promise<void>
  close(): Promise<void>
}

/** What becomes of large blobs: they stop half way, or go on byte by byte for ever. */
export type Slowness = 'stops' | 'drips'

const LARGE = 1_000_000
const DRIP_MS = 5

/** A registry of one image `tool:v1` over plain HTTP, as engines speak it. */
export async function startRegistry(image: RegistryImage, slowness?: Slowness): Promise<TestRegistry> {
  const { manifest, blobs } = packed(image)
  const asked: string[] = []
  let left = () => {}
  const leftEarly = new Promise<void>(resolve => {
    left = resolve
  })
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const blob = blobs.get(/\/blobs\/sha256:([0-9a-f]{64})$/.exec(path)?.[1] ?? '')
    if (path === '/v2/') response.end('{}')
    else if (/\/manifests\/(v1|sha256:[0-9a-f]{64})$/.test(path)) giveManifest(response, manifest, request.method)
    else if (blob === undefined) response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
    else if (slowness === undefined || blob.length < LARGE) response.end(blob)
    else giveSlowly(response, blob, slowness, left)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked, leftEarly, close }
}

function giveSlowly(response: ServerResponse, blob: Buffer, slowness: Slowness, left: () => void): void {
  const half = Math.floor(blob.length / 2)
  response.writeHead(200, { 'content-length': blob.length }).write(blob.subarray(0, half))
  let at = half
  const drip = () => {
    response.write(blob.subarray(at, at + 1))
    at += 1
  }
  const dripping = slowness === 'drips' ? setInterval(drip, DRIP_MS) : undefined
  response.once('close', () => {
    clearInterval(dripping)
    left()
  })
}

function giveManifest(response: ServerResponse, manifest: Buffer, method: string | undefined): void {
  response.writeHead(200, {
    'content-type': MANIFEST,
    'content-length': manifest.length,
    'docker-content-digest': `sha256:${sha256(manifest)}`,
  })
  response.end(method === 'HEAD' ? undefined : manifest)
}

function packed({ layers, command }: RegistryImage) {
  const tars = layers.map(({ path, bytes }) =>
    Buffer.concat([
      tarHeader({ path, kind: 'file', size: bytes.length, executable: true, at: 0 }),
      bytes,
      tarFilling(bytes.length),
      TAR_END,
    ]),
  )
  const zipped = tars.map(tar => gzipSync(tar, { level: 1 }))
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: { Cmd: command, Env: ['PATH=/bin'] },
      rootfs: { type: 'layers', diff_ids: tars.map(tar => `sha256:${sha256(tar)}`) },
    }),
  )
  const described = (mediaType: string, blob: Buffer) => ({
    mediaType,
    size: blob.length,
    digest: `sha256:${sha256(blob)}`,
  })
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: described(CONFIG, config),
      layers: zipped.map(blob => described(LAYER, blob)),
    }),
  )
  return { manifest, blobs: new Map([config, ...zipped].map(blob => [sha256(blob), blob])) }
}

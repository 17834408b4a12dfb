import { hostOf } from '../proxy.ts'
/** Where a Docker or podman engine listens. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }

const DEFAULT_SOCKET = '/var/run/docker.sock'
const PLAIN_PORT = 2375
/** A socket's path must fit into the kernel's structure for it. */
const MAX_SOCKET_PATH = 107

/** What DOCKER_HOST means; none is the usual socket. A way that is not spoken here is refused with what is. */
export function parseEngineAddress(text: string | undefined): EngineAddress {
  if (text === undefined || text === '') return { kind: 'socket', path: DEFAULT_SOCKET }
  if (text.startsWith('unix://')) return socketAt(text.slice('unix://'.length), text)
  if (text.startsWith('/')) return socketAt(text, text)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['tcp:', 'http:'].includes(url.protocol) || url.hostname === '')
    throw new RangeError(`the engine's address should be unix:///path or tcp://host:port, it is ${text}`)
  return { kind: 'tcp', host: hostOf(url), port: Number(url.port || PLAIN_PORT) }
}

export function engineAddressText(address: EngineAddress): string {
  return address.kind === 'socket' ? address.path : `${address.host}:${address.port}`
}

function socketAt(path: string, text: string): EngineAddress {
  if (!path.startsWith('/')) throw new RangeError(`the engine's socket should be a whole path, it is ${text}`)
  const bytes = Buffer.byteLength(path)
  if (bytes > MAX_SOCKET_PATH)
    throw new RangeError(`the path of a socket may have ${MAX_SOCKET_PATH} bytes, ${path} has ${bytes}`)
  return { kind: 'socket', path }
}

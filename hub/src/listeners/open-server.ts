import { once } from 'node:events'
import { createServer as createPlain, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificate.ts'
import type { ListenAddress } from './listen-address.ts'

/** What every server of the hub does with what comes in. */
export interface Reception {
  readonly options: ServerOptions
  readonly request: RequestListener
  readonly broken: (error: Error & { readonly code?: string | undefined }, socket: Duplex) => void
  /** Hears of upgrades to the protocols of workers. */
  readonly attach: (server: Server) => void
}

export interface OpenServer {
  readonly address: ListenAddress
  close(): Promise<void>
}

/** Resolves when it listens; a port of 0 is any free one. */
export async function openServer(
  address: ListenAddress,
  certificate: Certificate | null,
  reception: Reception,
): Promise<OpenServer> {
  const { options, request, broken, attach } = reception
  const server: Server =
    certificate === null
      ? createPlain(options, request)
      : createSecure({ ...options, cert: certificate.cert, key: certificate.key, minVersion: 'TLSv1.2' }, request)
  server.on('clientError', broken)
  attach(server)
  server.listen(address.port, address.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.close()
    server.closeAllConnections()
    if (server.listening) await once(server, 'close')
  }
  return { address: { ...address, port }, close }
}

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { parsePin, pinOf, WrongPin } from './pin.ts'
import { openTunnel } from './proxy.ts'

/** How the other end of a connection is known: by its pinned key alone, by the given authority, or by those of the system. */
export interface Trust {
  readonly pin?: string | undefined
  /** Certificates in PEM form. */
  readonly ca?: string | undefined
  readonly proxy?: URL | null | undefined
}

interface Target {
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

const DIAL_MS = 10_000

/**
 * A connection whose other end is proven before a byte is said to it. A pin replaces all other checks: names, dates and
 * authorities do not matter, the key does.
 */
export async function dialTrusted(target: Target, trust: Trust): Promise<Socket> {
  const { host, port, secure } = target
  const tunnel = trust.proxy == null ? null : await openTunnel(trust.proxy, host, port, DIAL_MS)
  if (!secure) return tunnel ?? opened(connectPlain({ host, port }), 'connect', target)
  const way = tunnel === null ? { host, port } : { host, socket: tunnel }
  const socket = connectTls({
    ...way,
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: trust.pin === undefined,
    ...(trust.ca === undefined ? {} : { ca: trust.ca }),
    ALPNProtocols: ['http/1.1'],
  })
  try {
    await opened(socket, 'secureConnect', target)
    if (trust.pin !== undefined) checkPin(socket, target, trust.pin)
    return socket
  } catch (error) {
    socket.destroy()
    tunnel?.destroy()
    throw error
  }
}

/** Kept connections to one server; made for `http`, `https` and `ws` alike. */
export function trustedAgent(secure: boolean, trust: Trust): HttpAgent {
  if (trust.pin !== undefined && parsePin(trust.pin) === null)
    throw new Error(`a pin looks like sha256/… with 44 characters of base64, found ${trust.pin}`)
  if (trust.pin !== undefined && !secure) throw new Error('a pin needs an https address, found an http one')
  if (!secure && trust.proxy == null) return new HttpAgent({ keepAlive: true })
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  return Object.assign(agent, { createConnection: connector(secure, trust) })
}

type Connected = (error: Error | null, socket?: Duplex) => void

function connector(secure: boolean, trust: Trust) {
  return (options: { host?: string | null; port?: number | string | null }, done: Connected): undefined => {
    const target = { host: options.host ?? 'localhost', port: Number(options.port || (secure ? 443 : 80)), secure }
    dialTrusted(target, trust).then(
      socket => done(null, socket),
      error => done(error),
    )
  }
}

function opened<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', target: Target): Promise<S> {
  return new Promise((resolve, reject) => {
    const place = `${target.host}:${target.port}`
    const fail = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(() => fail(new Error(`${place} did not answer within ${DIAL_MS / 1000} s`)), DIAL_MS)
    const onClose = () => fail(new Error(`${place} hung up before the connection was made`))
    const onError = (error: Error) => fail(explained(error, place, socket))
    socket.once('error', onError)
    socket.once('close', onClose)
    socket.once(event, () => {
      clearTimeout(timer)
      socket.off('close', onClose)
      socket.off('error', onError)
      resolve(socket)
    })
  })
}

function checkPin(socket: TLSSocket, { host, port }: Target, pin: string): void {
  const certificate = socket.getPeerX509Certificate()
  const seen = certificate === undefined ? 'none' : pinOf(certificate)
  if (seen !== parsePin(pin)) throw new WrongPin(`${host}:${port}`, seen, pin)
}

/** A certificate that is not accepted is named with its key, so that its owner can compare and pin it. */
function explained(error: Error, place: string, socket: Socket): Error {
  const code = 'code' in error ? String(error.code) : ''
  if (!/CERT|SIGNATURE|ALTNAME/.test(code) || !('getPeerX509Certificate' in socket)) return error
  const certificate = (socket as TLSSocket).getPeerX509Certificate()
  if (certificate === undefined) return error
  const facts = `valid until ${certificate.validTo}, key ${pinOf(certificate)}`
  return new Error(`the certificate of ${place} is not accepted: ${error.message} (${facts})`, { cause: error })
}

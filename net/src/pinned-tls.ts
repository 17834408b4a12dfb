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
    // Checked below, where what is wrong can be said in full; until then nothing is sent.
    rejectUnauthorized: false,
    ...(trust.ca === undefined ? {} : { ca: trust.ca }),
    ALPNProtocols: ['http/1.1'],
  })
  try {
    await opened(socket, 'secureConnect', target)
    check(socket, target, trust.pin)
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
    socket.once('error', fail)
    socket.once('close', onClose)
    socket.once(event, () => {
      clearTimeout(timer)
      socket.off('close', onClose)
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

/** What stands against a certificate, in words; all other codes speak for themselves. */
const FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'its time has not come; is the clock of this machine right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'no known authority stands behind it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'no known authority stands behind it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'no known authority stands behind it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for other names',
}

function check(socket: TLSSocket, { host, port }: Target, pin: string | undefined): void {
  const certificate = socket.getPeerX509Certificate()
  const seen = certificate === undefined ? 'none' : pinOf(certificate)
  const place = `${host}:${port}`
  if (pin !== undefined) {
    if (seen !== parsePin(pin)) throw new WrongPin(place, seen, pin)
  } else if (!socket.authorized) {
    const code = String(socket.authorizationError)
    const facts = `valid until ${certificate?.validTo}, key ${seen}`
    throw new Error(`the certificate of ${place} is not accepted: ${FAULTS[code] ?? code} (${facts})`)
  }
}

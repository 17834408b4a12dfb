import { isIP } from 'node:net'
import { addressKind, hostOf } from '@stoker/net'
import { Refused } from '@stoker/protocol'

/** Where to listen, with or without TLS. */
export interface ListenAddress {
  readonly secure: boolean
  readonly host: string
  readonly port: number
}

/** Reads `https://0.0.0.0:7443` and the like; a plain address that others can reach is refused unless the hub's owner allowed it. */
export function parseListenAddress(text: string, { insecure }: { readonly insecure: boolean }): ListenAddress {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== url.href.replace(/\/$/, ''))
    throw new Refused('request.invalid', `an address to listen on looks like https://0.0.0.0:7443, found "${text}"`)
  const secure = url.protocol === 'https:'
  const address = { secure, host: hostOf(url), port: Number(portText(text) ?? (secure ? 443 : 80)) }
  if (!secure && !insecure) refuseOpenPlain(address.host)
  return address
}

export function refuseOpenPlain(host: string): void {
  if (host === 'localhost' || addressKind(host) === 'loopback') return
  const fact = `${host} can be reached from other machines, and plain HTTP shows tokens to everyone on the way`
  throw new Refused('listener.unusable', `${fact}; listen with https, or start the hub with --insecure`)
}

/** How a listener is named and told apart: `0.0.0.0:7443`, `[::]:7443`. */
export function nameOf({ host, port }: Pick<ListenAddress, 'host' | 'port'>): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** A URL forgets the port that its scheme implies. */
function portText(text: string): string | undefined {
  return /:(\d+)\/?$/.exec(text)?.[1]
}

import type { Duplex } from 'node:stream'
import type { LinkPrivacy } from './offer-secrets.ts'

const LOOPBACK = /^(::ffff:)?127\.|^::1$/

/** Encrypted, or never leaving this machine. */
export function linkPrivacy(socket: Duplex): LinkPrivacy {
  const { remoteAddress, encrypted } = socket as Duplex & { remoteAddress?: string; encrypted?: boolean }
  const from = remoteAddress ?? 'an unknown address'
  return { isPrivate: encrypted === true || LOOPBACK.test(from), from }
}

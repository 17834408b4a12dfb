import { createHash, type X509Certificate } from 'node:crypto'

/** The SHA-256 of a certificate's public key: it stays the same when a certificate is renewed with its key. */
export function pinOf(certificate: X509Certificate): string {
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' })
  return `sha256/${createHash('sha256').update(key).digest('base64')}`
}

/** Takes our own form and the one with two slashes that curl and wget use; null is no pin. */
export function parsePin(text: string): string | null {
  const digest = /^sha256\/{1,2}([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1]
  return digest === undefined ? null : `sha256/${digest}`
}

/** The other end has another key than the one that was pinned: nothing was sent to it. */
export class WrongPin extends Error {
  readonly code = 'STOKER_WRONG_PIN'

  constructor(place: string, seen: string, pinned: string) {
    super(`${place} has the key ${seen}, pinned is ${pinned}: it is another hub, or someone in between`)
    this.name = 'WrongPin'
  }
}

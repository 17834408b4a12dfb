import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { writeAtomic } from '@stoker/files'
import { pinOf } from '@stoker/net'

/** What a TLS listener shows, in PEM form, and how clients know it. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly pin: string
  readonly selfSigned: boolean
}

const DAY_MS = 24 * 3600_000
const TEN_YEARS_MS = 3652 * DAY_MS

export async function readCertificate(certFile: string, keyFile: string): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
  return described(cert, key, `${certFile} and ${keyFile}`)
}

/** Made at the first need and kept: the pin of a hub stays the same as long as its data folder. */
export async function ownCertificate(folder: string, now: () => number): Promise<Certificate> {
  const place = join(folder, 'tls')
  const [certFile, keyFile] = [join(place, 'cert.pem'), join(place, 'key.pem')]
  const known = await readCertificate(certFile, keyFile).catch(ignoreAbsent)
  if (known !== null) return known
  const made = await selfSign(now())
  await mkdir(place, { recursive: true, mode: 0o700 })
  await writeAtomic(keyFile, made.key, { mode: 0o600 })
  await writeAtomic(certFile, made.cert, { mode: 0o644 })
  return made
}

/** For this machine's name and addresses of the moment; whoever pins the key does not care when they change. */
export async function selfSign(now: number): Promise<Certificate> {
  const { generate } = await import('selfsigned')
  const names = ['localhost', hostname()].map(value => ({ type: 2 as const, value }))
  const addresses = ['127.0.0.1', '::1', ...reachableAddresses()].map(ip => ({ type: 7 as const, ip }))
  const { cert, private: key } = await generate(
    [{ name: 'commonName', value: `stoker hub ${hostname()}`.slice(0, 64) }],
    {
      keyType: 'ec',
      curve: 'P-256',
      algorithm: 'sha256',
      // A day back, for clients whose clocks are behind.
      notBeforeDate: new Date(now - DAY_MS),
      notAfterDate: new Date(now + TEN_YEARS_MS),
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'keyUsage', digitalSignature: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: [...names, ...addresses] },
      ],
    },
  )
  return described(cert, key, 'the certificate just made')
}

/** Addresses of this machine that others may know, IPv4 first. */
export function reachableAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  return usable.sort((a, b) => a.family.localeCompare(b.family)).map(({ address }) => address)
}

function described(cert: string, key: string, place: string): Certificate {
  try {
    const parsed = new X509Certificate(cert)
    if (!parsed.checkPrivateKey(createPrivateKey(key))) throw new Error('the key belongs to another certificate')
    return { cert, key, pin: pinOf(parsed), selfSigned: parsed.issuer === parsed.subject }
  } catch (cause) {
    throw new Error(
      `${place} should hold a certificate and its key in PEM form, ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** What a new webhook's secret looks like: random bytes in base64 behind a mark. */
export function signingSecret(random: Buffer): string {
  return `${PREFIX}${random.toString('base64')}`
}

/** The headers of the Standard Webhooks convention, so that receivers can check with the libraries there are. */
export function signedHeaders(
  secret: string,
  id: string,
  atMs: number,
  body: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000))
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'stoker',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

import { createHash } from 'node:crypto'

/**
 * The id of a worker in this house. The ids that old workers make of themselves collide soon; together with the token
 * they come with they do not, and the same pair is the same worker for ever.
 */
export function providerId(token: string | null, workerId: string): string {
  const digest = createHash('sha256')
    .update(`qubix\n${token ?? ''}\n${workerId}`)
    .digest()
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  const hex = digest.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

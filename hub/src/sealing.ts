import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomic } from '@stoker/files'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Keeps secrets at rest: what is sealed for one context opens only for it, and only with the hub's key. */
export interface Sealing {
  seal(text: string, context: string): string
  open(sealed: string, context: string): string
}

/** The key is a file of the data folder that only its owner reads, made at the first start. */
export async function openSealing(folder: string): Promise<Sealing> {
  const path = join(folder, 'secret-key')
  const known = await readFile(path).catch(() => null)
  const key = known ?? randomBytes(KEY_BYTES)
  if (key.length !== KEY_BYTES) throw new Error(`${path} has ${key.length} bytes, a key has ${KEY_BYTES}`)
  if (known === null) await writeAtomic(path, key, { mode: 0o600 })
  return sealingWith(key)
}

export function sealingWith(key: Buffer): Sealing {
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat(parts).toString('base64')
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    },
  }
}

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomic } from '@stoker/files'
import { z } from 'zod'

const FILE = 'secret-key'
const CIPHER = 'aes-256-gcm'
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16]
/** The newest key is first: it seals; the others only open what they sealed. */
const KeyFile = z.object({ keys: z.array(z.object({ id: z.string(), key: z.string(), madeAt: z.string() })).min(1) })
type Keys = z.infer<typeof KeyFile>['keys']

/** Seals and opens values of secrets. A sealed value is bound to its owner and name, so it opens nowhere else. */
export class SecretVault {
  readonly #path: string
  #keys: Promise<Keys> | null = null

  constructor(folder: string) {
    this.#path = join(folder, FILE)
  }

  async seal(owner: string, name: string, value: Uint8Array): Promise<string> {
    const [key] = await this.#read(true)
    if (key === undefined) throw new Error(`${this.#path} holds no key`)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, Buffer.from(key.key, 'base64'), nonce).setAAD(boundTo(owner, name))
    const sealed = Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    return `1.${key.id}.${sealed.toString('base64')}`
  }

  /** Rejects with the reason when the key is not here or the sealed text is not what was sealed. */
  async open(owner: string, name: string, sealed: string): Promise<Buffer> {
    const [version, id, text = ''] = sealed.split('.')
    const key = (await this.#read(false)).find(known => known.id === id)
    if (version !== '1' || key === undefined)
      throw new Error(`it was sealed with key ${id}, which is not in the hub's file ${FILE}`)
    const bytes = Buffer.from(text, 'base64')
    const end = bytes.length - TAG_BYTES
    const decipher = createDecipheriv(CIPHER, Buffer.from(key.key, 'base64'), bytes.subarray(0, NONCE_BYTES))
    decipher.setAAD(boundTo(owner, name)).setAuthTag(bytes.subarray(end))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()])
  }

  /** From now on a new key seals; the old ones stay until `dropOldKeys`. */
  async addKey(): Promise<string> {
    const key = newKey()
    await this.#write([key, ...(await this.#read(false))])
    return key.id
  }

  /** Only once nothing sealed with them is left. */
  async dropOldKeys(): Promise<void> {
    await this.#write((await this.#read(false)).slice(0, 1))
  }

  #read(make: boolean): Promise<Keys> {
    this.#keys ??= this.#load()
    return this.#keys.then(keys => (keys.length === 0 && make ? this.#makeFirst() : keys))
  }

  async #load(): Promise<Keys> {
    const text = await readFile(this.#path, 'utf8').catch(absent)
    return text === null ? [] : KeyFile.parse(JSON.parse(text)).keys
  }

  /** Two first uses at once share one key. */
  #makeFirst(): Promise<Keys> {
    this.#first ??= this.#write([newKey()])
    return this.#first
  }
  #first: Promise<Keys> | null = null

  async #write(keys: Keys): Promise<Keys> {
    await writeAtomic(this.#path, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600 })
    this.#keys = Promise.resolve(keys)
    return keys
  }
}

function newKey(): Keys[number] {
  const key = randomBytes(KEY_BYTES)
  const id = createHash('sha256').update(key).digest('hex').slice(0, 12)
  return { id, key: key.toString('base64'), madeAt: new Date().toISOString() }
}

/** Lengths in front, so that no other owner and name give the same bytes. */
function boundTo(owner: string, name: string): Buffer {
  return Buffer.from(`${owner.length}:${owner}${name.length}:${name}`)
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

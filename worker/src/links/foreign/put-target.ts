import { join } from 'node:path'
import { openFileContent } from '@stoker/files'
import { type Backoff, retrying, type Trust } from '@stoker/net'
import { HubAway, HubCalls, isFine, isTemporary } from './hub-calls.ts'
import type { LeftFile } from './left-files.ts'

const STALL_MS = 60_000
const TRIES = 5

class Refused extends Error {}

/** A place of the worker's owner that takes files by HTTP PUT, below a folder for each job. */
export class PutTarget {
  readonly #url: URL
  readonly #calls: HubCalls
  readonly #backoff: Backoff

  constructor(url: string, { trust, backoff }: { readonly trust?: Trust | undefined; readonly backoff: Backoff }) {
    this.#url = new URL(url)
    const { username, password } = this.#url
    const login = username === '' ? null : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    this.#calls = new HubCalls(this.#url.origin, { login, ...(trust === undefined ? {} : { trust }) })
    this.#backoff = backoff
  }

  /** The address the file is at when this resolves; rejects when the target does not take it. */
  async put(jobId: string, work: string, file: LeftFile, signal: AbortSignal): Promise<string> {
    const path = [jobId, ...file.path.split('/')].map(encodeURIComponent).join('/')
    const place = `${this.#url.pathname.replace(/\/+$/, '')}/${path}`
    const tried = () => this.#once(`${place}${this.#url.search}`, work, file, signal)
    await retrying(tried, { ...this.#backoff, attempts: TRIES, signal, isTemporary: error => error instanceof HubAway })
    return `${this.#url.origin}${place}`
  }

  close(): void {
    this.#calls.close()
  }

  async #once(path: string, work: string, { size, sha256, ...file }: LeftFile, signal: AbortSignal): Promise<void> {
    const content = await openFileContent(join(work, file.path), { name: file.path, sha256 })
    try {
      const body = { type: file.contentType, length: size, bytes: content.read(0, size) }
      const { status } = await this.#calls.send({ method: 'PUT', path, body, timeoutMs: STALL_MS, signal })
      if (isTemporary(status)) throw new HubAway(`it answered ${status}`)
      if (!isFine(status)) throw new Refused(`it answered ${status}`)
    } finally {
      await content.close()
    }
  }
}

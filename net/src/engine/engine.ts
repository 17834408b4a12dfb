import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { type EngineAddress, engineAddressText } from './address.ts'
import { EngineAway, EngineRefused } from './errors.ts'

type Method = 'GET' | 'POST' | 'DELETE'

/** An engine that never stops talking must not fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Calls to a Docker or podman engine. Paths carry no version: an engine answers in its own newest one, and refuses those
 * too old for it. Each call has a connection of its own, so that none is left over when the caller is done.
 */
export class EngineClient {
  readonly #address: EngineAddress

  constructor(address: EngineAddress) {
    this.#address = address
  }

  /** The answer, parsed if it is JSON; EngineRefused with the engine's own words if it says no, EngineAway if nobody answers in time. */
  async call(method: Method, path: string, { body, patienceMs }: CallOptions = {}): Promise<unknown> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = text === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const signal = patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs)
    const answer = await this.#open({ method, path, headers, signal }, text).catch(error => {
      throw signal?.aborted === true ? this.#away(`nothing came within ${(patienceMs ?? 0) / 1000} s`) : error
    })
    return parsed(await whole(answer))
  }

  /** Objects of an answer that comes line by line; resolves when it ends. */
  async stream(method: Method, path: string, signal: AbortSignal, onObject: (value: unknown) => void): Promise<void> {
    const answer = await this.#open({ method, path, signal })
    let rest = ''
    for await (const part of answer.setEncoding('utf8')) {
      const lines = `${rest}${part}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MOST_BYTES) throw new Error('the engine sends a line without end')
      for (const line of lines) if (line.trim() !== '') onObject(JSON.parse(line))
    }
    if (rest.trim() !== '') onObject(JSON.parse(rest))
  }

  /** Both directions of a container's streams, in frames (FrameSplitter) unless it has a terminal; ended, its stdin ends. */
  attach(container: string): Promise<Duplex> {
    const path = `/containers/${encodeURIComponent(container)}/attach?stream=1&stdin=1&stdout=1&stderr=1`
    return new Promise((resolve, reject) => {
      // No body: some engines would hand its bytes to the program.
      const asked = this.#ask({ method: 'POST', path, headers: { connection: 'Upgrade', upgrade: 'tcp' } })
      asked.on('error', cause => reject(this.#away(cause)))
      asked.on('upgrade', (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      asked.on('response', answer => void refusal(answer).then(reject, reject))
      asked.end()
    })
  }

  #open(options: RequestOptions, body = ''): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = this.#ask(options)
      asked.on('error', cause => reject(this.#away(cause)))
      asked.on('response', answer => {
        if ((answer.statusCode ?? 0) < 400) resolve(answer)
        else void refusal(answer).then(reject, reject)
      })
      asked.end(body)
    })
  }

  #ask(options: RequestOptions) {
    const at = this.#address
    const where = at.kind === 'socket' ? { socketPath: at.path } : { host: at.host, port: at.port }
    return request({ ...where, ...options, agent: false, headers: { host: 'engine', ...options.headers } })
  }

  #away(cause: unknown): EngineAway {
    return new EngineAway(engineAddressText(this.#address), cause)
  }
}

export interface CallOptions {
  readonly body?: unknown
  /** Without one the call waits as long as the engine takes. */
  readonly patienceMs?: number | undefined
}

/** A client of an engine that answers; EngineAway with the reason if none does. */
export async function connectEngine(address: EngineAddress): Promise<EngineClient> {
  const client = new EngineClient(address)
  await client.call('GET', '/_ping')
  return client
}

async function whole(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of answer.setEncoding('utf8')) {
    text += part
    if (text.length > MOST_BYTES) throw new Error('the engine sends an answer without end')
  }
  return text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function refusal(answer: IncomingMessage): Promise<EngineRefused> {
  const { statusCode = 0 } = answer
  const body = parsed(await whole(answer))
  return new EngineRefused(statusCode, messageIn(body) ?? `the engine answered ${statusCode}`)
}

function messageIn(body: unknown): string | null {
  if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message)
  return typeof body === 'string' && body.trim() !== '' ? body.trim().slice(0, 500) : null
}

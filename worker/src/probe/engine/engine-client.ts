import { type IncomingMessage, request } from 'node:http'

/** Nothing but a list of containers or images comes near it; an engine that never ends must not fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024
const PATIENCE_MS = 10_000

/** The engine answered, and not as hoped. */
export class EngineRefused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface StreamOptions {
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Calls of the engine that listens on a socket; paths carry no version, so engines old and new understand them. */
export class EngineClient {
  readonly socket: string

  constructor(socket: string) {
    this.socket = socket
  }

  async json(method: 'GET' | 'POST' | 'DELETE', path: string, patienceMs = PATIENCE_MS): Promise<unknown> {
    const signal = AbortSignal.timeout(patienceMs)
    const response = await this.#send(method, path, { signal }).catch(error => {
      throw signal.aborted ? new Error(`nothing came within ${patienceMs / 1000} s`) : error
    })
    const text = await wholeText(response)
    if ((response.statusCode ?? 0) >= 400) throw refused(response, text)
    return text === '' ? null : JSON.parse(text)
  }

  /** Objects of an answer that comes line by line; resolves when it ends. */
  async stream(
    method: 'GET' | 'POST',
    path: string,
    options: StreamOptions,
    onObject: (value: unknown) => void,
  ): Promise<void> {
    const response = await this.#send(method, path, options)
    if ((response.statusCode ?? 0) >= 400) throw refused(response, await wholeText(response))
    let rest = ''
    for await (const part of response.setEncoding('utf8')) {
      const lines = `${rest}${part}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MOST_BYTES) throw new Error('the engine sends a line without end')
      for (const line of lines) if (line.trim() !== '') onObject(JSON.parse(line))
    }
    if (rest.trim() !== '') onObject(JSON.parse(rest))
  }

  #send(method: string, path: string, { signal, headers = {} }: StreamOptions): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request({
        socketPath: this.socket,
        method,
        path,
        headers: { host: 'engine', ...headers },
        signal,
        agent: false,
      })
      sent.on('response', resolve).on('error', reject)
      sent.end()
    })
  }
}

async function wholeText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part
    if (text.length > MOST_BYTES) throw new Error('the engine sends an answer without end')
  }
  return text
}

function refused({ statusCode = 0 }: IncomingMessage, text: string): EngineRefused {
  return new EngineRefused(statusCode, messageIn(text) ?? `the engine answered ${statusCode}`)
}

function messageIn(text: string): string | null {
  try {
    const said: unknown = JSON.parse(text)
    const isTold = typeof said === 'object' && said !== null && 'message' in said && typeof said.message === 'string'
    return isTold ? String(said.message) : null
  } catch {
    return text.trim() === '' ? null : text.trim().slice(0, 500)
  }
}

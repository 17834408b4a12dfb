import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HubMood } from './link-contract.ts'

export interface HttpCall {
  readonly method: string
  readonly path: string
  readonly body: Buffer
  /** Undefined where the body is no JSON. */
  readonly json: unknown
  readonly headers: IncomingMessage['headers']
}

export interface HttpAnswer {
  readonly status: number
  readonly json?: unknown
  readonly body?: Buffer | string | undefined
}

const GARBAGE = ['<!DOCTYPE html><h1>Welcome to our hotel</h1>', '{"jobs":', '[null, 3, {"id":null}]', '"ok"', '']

/** The server of a scripted hub, with its bad days. */
export class HttpHub {
  readonly calls: HttpCall[] = []
  readonly #answer: (call: HttpCall) => HttpAnswer
  #server: Server | null = null
  #port = 0
  #mood: HubMood = 'well'
  #garbled = 0

  constructor(answer: (call: HttpCall) => HttpAnswer) {
    this.#answer = answer
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => void this.#take(request, response).catch(() => {}))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** What was begun in the mood before is cut off. */
  async mood(mood: HubMood): Promise<void> {
    this.#mood = mood
    this.#server?.closeAllConnections()
    if (mood === 'away') await this.close()
    else if (this.#server === null) await this.open()
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    const closed = new Promise(resolve => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const call = {
      ...{ method: request.method ?? '', path: request.url ?? '', body, headers: request.headers },
      json: tryJson(body.toString('utf8')),
    }
    if (this.#mood === 'slow') return
    if (this.#mood === 'broken') return end(response, { status: 500, json: { success: false, error: 'a bad day' } })
    if (this.#mood === 'garbage') return this.#garble(response)
    this.calls.push(call)
    const answer = this.#answer(call)
    if (this.#mood === 'lossy') request.socket.destroy()
    else end(response, answer)
  }

  #garble(response: ServerResponse): void {
    this.#garbled += 1
    // With anything but a page a success would be a success: there it is an error that says garbage.
    const body = GARBAGE[this.#garbled % GARBAGE.length] ?? ''
    end(response, { status: body.startsWith('<') ? 200 : 502, body })
  }
}

function end(response: ServerResponse, { status, json, body }: HttpAnswer): void {
  response.statusCode = status
  if (json !== undefined) response.setHeader('content-type', 'application/json')
  response.end(json === undefined ? body : JSON.stringify(json))
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

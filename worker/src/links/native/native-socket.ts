import type { Agent } from 'node:http'
import { type Trust, trustedAgent } from '@stoker/net'
import { encodeFrame, HubMessage, type Report, type WorkerMessage } from '@stoker/protocol'
import { WebSocket } from 'ws'

const NATIVE_PATH = '/api/v1/native'
const DIAL_MS = 10_000

export interface SocketEvents {
  readonly connected: () => void
  readonly closed: (why: string) => void
  readonly message: (message: HubMessage) => void
}

/** One connection at a time to a hub that speaks our own protocol. */
export class NativeSocket {
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #agent: Agent
  readonly #events: SocketEvents
  #socket: WebSocket | null = null

  constructor(
    hubUrl: string,
    credentials: { readonly secret: string; readonly join: string | null; readonly trust?: Trust | undefined },
    events: SocketEvents,
  ) {
    this.#url = new URL(NATIVE_PATH, hubUrl.replace(/^http/, 'ws')).href
    this.#agent = trustedAgent(hubUrl.startsWith('https:'), credentials.trust ?? {})
    this.#headers = {
      authorization: `Bearer ${credentials.secret}`,
      ...(credentials.join === null ? {} : { 'x-stoker-join': credentials.join }),
    }
    this.#events = events
  }

  dial(): void {
    const socket = new WebSocket(this.#url, {
      headers: this.#headers,
      agent: this.#agent,
      handshakeTimeout: DIAL_MS,
      perMessageDeflate: false,
      maxPayload: 64 * 1024 * 1024,
    })
    this.#socket = socket
    let why = ''
    socket.on('open', () => this.#events.connected())
    socket.on('message', (data: Buffer) => this.#receive(socket, data))
    socket.on('error', error => {
      why = error.message
    })
    socket.on('close', (code, reason) => {
      if (this.#socket === socket) this.#socket = null
      this.#events.closed(why || reason.toString() || `closed with code ${code}`)
    })
  }

  send(message: Exclude<WorkerMessage, Report>): void {
    this.#socket?.send(JSON.stringify(message))
  }

  /** The report comes as text: it was written down in the same words. */
  sendReport(json: string, payload: readonly Uint8Array[]): void {
    this.#socket?.send(encodeFrame(json, payload))
  }

  hangUp(): void {
    this.#socket?.terminate()
  }

  /** Resolves when everything said so far has left, or at once without a connection. */
  close(): Promise<void> {
    const socket = this.#socket
    if (socket === null || socket.readyState !== WebSocket.OPEN) {
      socket?.terminate()
      return Promise.resolve()
    }
    return new Promise(resolve => {
      socket.on('close', () => resolve())
      socket.close(1000, 'goodbye')
      setTimeout(() => socket.terminate(), 1000).unref()
    })
  }

  #receive(socket: WebSocket, data: Buffer): void {
    const parsed = HubMessage.safeParse(tryJson(data.toString()))
    if (parsed.success) this.#events.message(parsed.data)
    else socket.terminate()
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

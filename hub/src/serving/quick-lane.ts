import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { QuickReader, type QuickRequest } from './quick-request.ts'

/** Resolves with the JSON of a 201. Null or a rejection sends the request the ordinary way: nothing may have happened then. */
export type QuickAnswer = (request: QuickRequest) => Promise<string> | null

export interface QuickLaneOptions {
  /** Method, path and version of the requests that are answered here. */
  readonly line: string
  readonly answer: QuickAnswer
  readonly now: () => number
}

/**
 * A short way for one kind of request, which costs half of the way through Node's HTTP and a framework.
 * Connections that carry nothing else are read and answered here. With the first request that is in any way unusual,
 * or is not accepted, a connection goes to the server, for good: refusals have one place.
 */
export class QuickLane {
  readonly #server: Server
  readonly #options: QuickLaneOptions
  readonly #connections = new Set<Connection>()
  readonly #serve: readonly ((socket: Socket) => void)[]
  #isClosing = false
  #second = 0
  #head = ''

  constructor(server: Server, options: QuickLaneOptions) {
    this.#server = server
    this.#options = options
    this.#serve = server.listeners('connection') as ((socket: Socket) => void)[]
    server.removeAllListeners('connection')
    server.on('connection', socket => this.#take(socket))
  }

  /** Idle connections end, others with their answer. */
  close(): void {
    this.#isClosing = true
    for (const connection of this.#connections) connection.close()
  }

  #take(socket: Socket): void {
    if (this.#isClosing) {
      this.#handOver(socket)
      return
    }
    const { headersTimeout, keepAliveTimeout } = this.#server
    const connection = new Connection(socket, {
      reader: new QuickReader(this.#options.line),
      answer: this.#options.answer,
      write: text => this.#write(socket, text),
      handOver: () => this.#handOver(socket),
      gone: () => this.#connections.delete(connection),
      firstMs: headersTimeout,
      idleMs: keepAliveTimeout,
    })
    this.#connections.add(connection)
  }

  #handOver(socket: Socket): void {
    for (const serve of this.#serve) serve.call(this.#server, socket)
  }

  /** Without other letters a text is sent as it is. */
  #write(socket: Socket, text: string): boolean {
    const bytes = Buffer.byteLength(text)
    return socket.write(`${this.#headNow()}${bytes}\r\n\r\n${text}`, bytes === text.length ? 'latin1' : 'utf8')
  }

  /** The same for a second. */
  #headNow(): string {
    const second = Math.floor(this.#options.now() / 1000)
    if (second !== this.#second) {
      const { keepAliveTimeout } = this.#server
      const kept = `Date: ${new Date(second * 1000).toUTCString()}\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1000)}`
      this.#head = `HTTP/1.1 201 Created\r\ncontent-type: application/json; charset=utf-8\r\n${kept}\r\ncontent-length: `
      this.#second = second
    }
    return this.#head
  }
}

interface ConnectionPorts {
  readonly reader: QuickReader
  readonly answer: QuickAnswer
  /** False when the other end does not read. */
  readonly write: (text: string) => boolean
  readonly handOver: () => void
  readonly gone: () => void
  /** How long it may be silent before its first request, and between others. */
  readonly firstMs: number
  readonly idleMs: number
}

/** idle: waits for a request. busy: one is being answered; what comes meanwhile waits. Over when handed over or closed. */
class Connection {
  readonly #socket: Socket
  readonly #ports: ConnectionPorts
  #isBusy = false
  #isLast = false
  #isFirst = true
  #early: Buffer | null = null

  constructor(socket: Socket, ports: ConnectionPorts) {
    this.#socket = socket
    this.#ports = ports
    socket.setTimeout(ports.firstMs, this.#onSilence)
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('close', ports.gone)
  }

  close(): void {
    if (this.#isBusy) this.#isLast = true
    else this.#socket.destroy()
  }

  readonly #onSilence = () => {
    if (!this.#isBusy) this.#socket.destroy()
  }

  readonly #onEnd = () => {
    if (this.#isBusy) this.#isLast = true
    else this.#socket.end()
  }

  readonly #onError = () => this.#socket.destroy()

  readonly #onData = (bytes: Buffer) => {
    if (this.#isBusy) this.#keep(bytes)
    else this.#take(bytes)
  }

  #keep(bytes: Buffer): void {
    this.#early = this.#early === null ? bytes : Buffer.concat([this.#early, bytes])
    this.#socket.pause()
  }

  #take(bytes: Buffer): void {
    const request = this.#ports.reader.read(bytes)
    const answer = request && this.#ports.answer(request)
    this.#isBusy = answer !== null
    if (answer === null) this.#handOver(bytes)
    else
      answer.then(
        text => this.#answered(text),
        () => this.#handOver(bytes),
      )
  }

  #answered(text: string): void {
    const socket = this.#socket
    this.#isBusy = false
    const goesOn = this.#ports.write(text)
    if (this.#isLast) {
      socket.end()
      return
    }
    if (this.#isFirst) socket.setTimeout(this.#ports.idleMs)
    this.#isFirst = false
    if (!goesOn) this.#waitForReader()
    else if (this.#early !== null) this.#goOn()
  }

  /** Who does not read answers is not asked for more. */
  #waitForReader(): void {
    this.#isBusy = true
    this.#socket.pause().once('drain', () => {
      this.#isBusy = false
      this.#goOn()
    })
  }

  #goOn(): void {
    const bytes = this.#early
    this.#early = null
    this.#socket.resume()
    if (bytes !== null) this.#take(bytes)
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket
    if (this.#isLast) socket.destroy()
    if (socket.destroyed) return
    socket.setTimeout(0, this.#onSilence)
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#ports.gone)
    this.#ports.gone()
    this.#ports.handOver()
    socket.unshift(this.#early === null ? bytes : Buffer.concat([bytes, this.#early]))
    socket.resume()
  }
}

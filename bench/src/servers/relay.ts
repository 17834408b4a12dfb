import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut as a network is: nothing passes any more, and neither end is told. */
export class Relay {
  readonly #server = createServer({ allowHalfOpen: true }, socket => this.#carry(socket))
  readonly #sockets = new Set<Socket>()
  /** Opened while nothing passed. */
  readonly #stranded = new Set<Socket>()
  readonly #target: { readonly host: string; readonly port: number }
  #isCut = false

  private constructor(target: URL) {
    this.#target = { host: target.hostname, port: Number(target.port) }
  }

  static async open(target: string): Promise<Relay> {
    const relay = new Relay(new URL(target))
    await new Promise<void>(resolve => relay.#server.listen(0, '127.0.0.1', resolve))
    return relay
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** What was on its way arrives late; connections that were opened meanwhile break. */
  mend(): void {
    this.#isCut = false
    for (const socket of this.#stranded) socket.destroy()
    this.#stranded.clear()
    for (const socket of this.#sockets) socket.resume()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #carry(near: Socket): void {
    this.#hold(near)
    if (this.#isCut) {
      this.#stranded.add(near)
      return
    }
    const far = connect({ ...this.#target, allowHalfOpen: true })
    this.#hold(far)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', data => to.write(data))
      from.on('end', () => to.end())
      from.on('close', () => to.destroy())
    }
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
    if (this.#isCut) socket.pause()
  }
}

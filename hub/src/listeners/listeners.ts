import { type Listener, Refused } from '@stoker/protocol'
import { type Certificate, reachableAddresses } from './certificate.ts'
import { type ListenAddress, nameOf, parseListenAddress } from './listen-address.ts'
import { type OpenServer, openServer, type Reception } from './open-server.ts'

export interface ListenersPorts {
  /** Made or read when the first TLS listener needs it. */
  readonly certificate: () => Promise<Certificate>
  readonly insecure: boolean
  /** Addresses opened by calls, kept over restarts. */
  readonly remembered: { read(): Promise<readonly string[]>; write(urls: readonly string[]): Promise<void> }
  readonly log: (level: 'info' | 'warn', text: string) => void
}

interface Entry {
  readonly view: Listener
  readonly server: OpenServer | null
}

/** The addresses the hub listens on: those of its start stay until it ends, others come and go by calls and are remembered. */
export class Listeners {
  readonly #ports: ListenersPorts
  readonly #entries = new Map<string, Entry>()
  #reception: Reception | null = null
  /** One opening or closing at a time: two calls for one address must not meet. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: ListenersPorts) {
    this.#ports = ports
  }

  /** Opens the addresses of the command line, all of them or none, and then the remembered ones as far as they can be. */
  async start(reception: Reception, first: string, urls: readonly string[]): Promise<void> {
    this.#reception = reception
    const { host, port } = new URL(first)
    this.#entries.set(host, {
      view: viewOf({ secure: false, host, port: Number(port) }, host, null, false),
      server: null,
    })
    for (const url of urls) await this.#open(url, false)
    for (const url of await this.#ports.remembered.read()) await this.#reopen(url)
  }

  list(): { readonly listeners: Listener[]; readonly addresses: string[] } {
    return { listeners: [...this.#entries.values()].map(({ view }) => view), addresses: [...reachableAddresses()] }
  }

  /** Opening what is open already changes nothing. */
  open(url: string): Promise<Listener> {
    return this.#inTurn(async () => {
      const view = await this.#open(url, true)
      await this.#remember()
      return view
    })
  }

  close(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const entry = this.#entries.get(name)
      if (entry === undefined)
        throw new Refused('listener.not_found', `the hub does not listen on ${name}, but on ${this.#names()}`)
      if (!entry.view.remembered)
        throw new Refused('listener.fixed', `${name} was given at the hub's start; start it without to close it`)
      this.#entries.delete(name)
      await this.#remember()
      await entry.server?.close()
    })
  }

  async closeAll(): Promise<void> {
    await this.#last.catch(() => {})
    await Promise.all([...this.#entries.values()].map(({ server }) => server?.close()))
    this.#entries.clear()
  }

  async #open(url: string, remembered: boolean): Promise<Listener> {
    const wanted = parseListenAddress(url, this.#ports)
    const known = this.#entries.get(nameOf(wanted))
    if (known !== undefined && known.view.error === null) return known.view
    if (this.#reception === null) throw new Error('listeners are opened after the start, it has not been')
    const certificate = wanted.secure ? await this.#ports.certificate() : null
    const server = await openServer(wanted, certificate, this.#reception).catch(error => refuse(wanted, error))
    const view = viewOf(server.address, nameOf(server.address), certificate, remembered)
    this.#entries.set(view.name, { view, server })
    this.#ports.log('info', `listening on ${view.url}${view.pin === null ? '' : `, key ${view.pin}`}`)
    return view
  }

  /** A network that is gone today must not keep the hub from starting; it is said, and tried again at the next start. */
  async #reopen(url: string): Promise<void> {
    try {
      await this.#open(url, true)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.#ports.log('warn', `${url} was remembered and is not open: ${error.message}`)
      const name = url.replace(/^https?:\/\//, '')
      const view = { name, url, pin: null, selfSigned: false, remembered: true, error: error.message }
      this.#entries.set(name, { view, server: null })
    }
  }

  #remember(): Promise<void> {
    const kept = [...this.#entries.values()].filter(({ view }) => view.remembered)
    return this.#ports.remembered.write(kept.map(({ view }) => view.url))
  }

  #names(): string {
    return [...this.#entries.keys()].join(', ')
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.catch(() => {}).then(work)
    this.#last = turn
    return turn
  }
}

function viewOf(
  { secure }: ListenAddress,
  name: string,
  certificate: Certificate | null,
  remembered: boolean,
): Listener {
  const { pin = null, selfSigned = false } = certificate ?? {}
  return { name, url: `${secure ? 'https' : 'http'}://${name}`, pin, selfSigned, remembered, error: null }
}

function refuse(address: ListenAddress, error: NodeJS.ErrnoException): never {
  const REASONS: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there',
    EADDRNOTAVAIL: 'this machine has no such address',
    EACCES: 'this user may not listen on that port',
    ENOTFOUND: 'the name is not known',
  }
  throw new Refused(
    'listener.unusable',
    `the hub cannot listen on ${nameOf(address)}: ${REASONS[error.code ?? ''] ?? error.message}`,
  )
}

import { Client, type Dispatcher } from 'undici'

/** No timer for each request: the peers' clients have none either. */
const UNTIMED = { headersTimeout: 0, bodyTimeout: 0 }

/** A client without our library: one request per job over kept connections, by the HTTP client of Node's own makers, as the peers have their makers' clients. Whoever submits has a connection for himself meanwhile. */
export class PlainHttp {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #free: Client[] = []

  constructor(url: string, token: string) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  }

  /** Resolves with the answer once the hub says that the job is durable. */
  async submit(spec: object): Promise<string> {
    const connection = this.#free.pop() ?? new Client(this.#url, UNTIMED)
    const text = await new Promise<string>((resolve, reject) => {
      const request = {
        path: '/api/v1/jobs',
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(spec),
      } as const
      connection.dispatch(request, new Answer(resolve, reject))
    })
    this.#free.push(connection)
    return text
  }

  async close(): Promise<void> {
    await Promise.all(this.#free.map(connection => connection.close()))
  }
}

/** The text of an answer, gathered without a stream of its own, as the peers' clients gather theirs. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #resolve: (text: string) => void
  readonly #reject: (error: Error) => void
  #status = 0
  #text = ''

  constructor(resolve: (text: string) => void, reject: (error: Error) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#text += piece.toString()
  }

  onResponseEnd(): void {
    if (this.#status === 201) this.#resolve(this.#text)
    else this.#reject(new Error(`a submit should be answered with 201, ${this.#status} came: ${this.#text}`))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error)
  }
}

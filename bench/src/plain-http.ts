import { Client } from 'undici'

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
    const { statusCode, body } = await connection.request({
      path: '/api/v1/jobs',
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(spec),
    })
    const text = await body.text()
    this.#free.push(connection)
    if (statusCode !== 201) throw new Error(`a submit should be answered with 201, ${statusCode} came: ${text}`)
    return text
  }

  async close(): Promise<void> {
    await Promise.all(this.#free.map(connection => connection.close()))
  }
}

import { Pool } from 'undici'

/** As many connections as anyone here has submits under way. */
const CONNECTIONS = 50

/** A client without our library: one request per job over kept connections, by the HTTP client of Node's own makers, as the peers have their makers' clients. */
export class PlainHttp {
  readonly #pool: Pool
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, token: string) {
    this.#pool = new Pool(url, { connections: CONNECTIONS })
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  }

  /** Resolves with the answer once the hub says that the job is durable. */
  async submit(spec: object): Promise<string> {
    const request = {
      path: '/api/v1/jobs',
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(spec),
    } as const
    const { statusCode, body } = await this.#pool.request(request)
    const text = await body.text()
    if (statusCode !== 201) throw new Error(`a submit should be answered with 201, ${statusCode} came: ${text}`)
    return text
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

import { Agent, request } from 'node:http'

/** A client without our library: one request per job over kept connections, as any HTTP user would send it. */
export class PlainHttp {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #target: { readonly hostname: string; readonly port: string; readonly path: string; readonly method: 'POST' }
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, token: string) {
    const { hostname, port } = new URL(url)
    this.#target = { hostname, port, path: '/api/v1/jobs', method: 'POST' }
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  }

  /** Resolves with the answer once the hub says that the job is durable. */
  submit(spec: object): Promise<string> {
    const body = JSON.stringify(spec)
    const headers = { ...this.#headers, 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const sent = request({ ...this.#target, headers, agent: this.#agent }, response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', part => {
          text += part
        })
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode === 201) resolve(text)
          else reject(new Error(`a submit should be answered with 201, ${response.statusCode} came: ${text}`))
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

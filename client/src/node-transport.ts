import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { hostOf, type Trust, trustedAgent } from '@stoker/net'
import { FrequentSubmits } from './frequent-submits.ts'
import type { HubReply, HubRequest, Transport } from './transport.ts'

/** Node's own HTTP with kept connections: less than a third of the cost of `fetch` per request. */
export function nodeTransport(url: string, trust: Trust = {}): Transport {
  const base = new URL(url)
  const isSecure = base.protocol === 'https:'
  const agent = trustedAgent(isSecure, trust)
  const submits = new FrequentSubmits(base, trust)
  const start = isSecure ? requestHttps : requestHttp
  const prefix = base.pathname.replace(/\/$/, '')
  const target = { agent, hostname: hostOf(base), port: base.port }

  function send(of: HubRequest): Promise<HubReply> {
    const isSubmit = of.method === 'POST' && of.path === '/api/v1/jobs'
    return (isSubmit ? submits.send(of, prefix + of.path) : null) ?? sendOrdinarily(of)
  }

  function sendOrdinarily(of: HubRequest): Promise<HubReply> {
    return new Promise((resolve, reject) => {
      const signal = of.signal === undefined ? {} : { signal: of.signal }
      const headers =
        typeof of.body === 'string' ? { ...of.headers, 'content-length': Buffer.byteLength(of.body) } : of.headers
      const request = start({ ...target, ...signal, method: of.method, path: prefix + of.path, headers })
      const onSilence = () => request.destroy(new Error(`it was silent for ${of.silenceMs / 1000} s`))
      request.setTimeout(of.silenceMs, onSilence)
      request.on('error', reject)
      request.on('response', response => resolve(toReply(response)))
      if (typeof of.body === 'object') stream(of.body, request)
      else request.end(of.body)
    })
  }
  const close = () => {
    agent.destroy()
    submits.close()
  }
  return { send, close }
}

/** The next part is asked for when the system has taken the one before. An answer that comes before all was sent is the answer: the rest is not sent any more. */
function stream(body: AsyncIterable<Uint8Array>, request: ClientRequest): void {
  const parts = body[Symbol.asyncIterator]()
  let isOver = false
  const stop = () => {
    isOver = true
    parts.return?.().catch(() => undefined)
  }
  const fail = (error: Error) => request.destroy(error)
  const sendNext = async () => {
    const part = await parts.next()
    if (isOver) return
    if (part.done === true) request.end()
    else request.write(part.value, error => (error ? undefined : void sendNext().catch(fail)))
  }
  request.on('response', response => {
    if (request.writableFinished) return
    stop()
    response.on('close', () => request.destroy())
  })
  request.on('close', stop)
  sendNext().catch(fail)
}

function toReply(response: IncomingMessage): HubReply {
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? '',
    header: name => [response.headers[name] ?? null].flat()[0] ?? null,
    text: () => readText(response),
    bytes: response,
  }
}

function readText(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      text += part
    })
    response.on('error', reject)
    response.on('end', () => resolve(text))
  })
}

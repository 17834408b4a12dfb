import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { hostOf, type Trust, trustedAgent } from '@stoker/net'
import type { HubReply, HubRequest, Transport } from './transport.ts'

/** Node's own HTTP with kept connections: less than a third of the cost of `fetch` per request. */
export function nodeTransport(url: string, trust: Trust = {}): Transport {
  const base = new URL(url)
  const isSecure = base.protocol === 'https:'
  const agent = trustedAgent(isSecure, trust)
  const start = isSecure ? requestHttps : requestHttp
  const prefix = base.pathname.replace(/\/$/, '')
  const target = { agent, hostname: hostOf(base), port: base.port }

  function send(of: HubRequest): Promise<HubReply> {
    return new Promise((resolve, reject) => {
      const signal = of.signal === undefined ? {} : { signal: of.signal }
      const headers =
        of.body === undefined ? of.headers : { ...of.headers, 'content-length': Buffer.byteLength(of.body) }
      const request = start({ ...target, ...signal, method: of.method, path: prefix + of.path, headers })
      const onSilence = () => request.destroy(new Error(`it was silent for ${of.silenceMs / 1000} s`))
      request.setTimeout(of.silenceMs, onSilence)
      request.on('error', reject)
      request.on('response', response => resolve(toReply(response)))
      request.end(of.body)
    })
  }
  return { send, close: () => agent.destroy() }
}

function toReply(response: IncomingMessage): HubReply {
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? '',
    header: name => [response.headers[name]].flat()[0],
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

import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { type EngineAddress, engineAddressText } from './address.ts'
import { EngineAway, EngineRefused } from './errors.ts'

/** The newest version of the API that was looked at; engines keep older ones, and refuse newer. */
const NEWEST_KNOWN = [1, 44] as const

/** Calls to a Docker or podman engine; nothing is kept between them. */
export interface Engine {
  readonly version: string
  /** The answer, parsed if it is JSON; EngineRefused with the engine's own words if it says no. */
  readonly call: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<unknown>
  /** Both directions of a container's streams, in frames (FrameSplitter) unless it has a terminal; ended, its stdin ends. */
  readonly attach: (container: string) => Promise<Duplex>
}

/** Finds the engine and the version both sides know; EngineAway with the reason if none answers. */
export async function connectEngine(address: EngineAddress): Promise<Engine> {
  const { headers } = await answer(address, open(address, { method: 'GET', path: '/_ping' }))
  const version = versionFor(headers['api-version'])
  return {
    version,
    async call(method, path, body) {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers =
        text === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      const asked = open(address, { method, path: `/v${version}${path}`, headers })
      return (await answer(address, asked, text)).body
    },
    attach: container => attach(address, `/v${version}/containers/${encodeURIComponent(container)}/attach`),
  }
}

/** Keeping no connection means that none is left over when the caller is done. */
function open(address: EngineAddress, options: RequestOptions): ClientRequest {
  const where = address.kind === 'socket' ? { socketPath: address.path } : { host: address.host, port: address.port }
  return request({ ...where, ...options, agent: false, headers: { host: 'engine', ...options.headers } })
}

function answer(address: EngineAddress, asked: ClientRequest, text = '') {
  return new Promise<{ readonly headers: IncomingMessage['headers']; readonly body: unknown }>((resolve, reject) => {
    asked.on('error', cause => reject(new EngineAway(engineAddressText(address), cause)))
    asked.on('response', response => {
      const status = response.statusCode ?? 0
      whole(response).then(body => {
        if (status < 400) resolve({ headers: response.headers, body })
        else reject(new EngineRefused(status, messageIn(body, status)))
      }, reject)
    })
    asked.end(text)
  })
}

/** A request without a body: some engines would hand its bytes to the program. */
function attach(address: EngineAddress, path: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const asked = open(address, {
      method: 'POST',
      path: `${path}?stream=1&stdin=1&stdout=1&stderr=1`,
      headers: { connection: 'Upgrade', upgrade: 'tcp' },
    })
    asked.on('error', cause => reject(new EngineAway(engineAddressText(address), cause)))
    asked.on('upgrade', (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    asked.on('response', response => {
      const status = response.statusCode ?? 0
      whole(response).then(body => reject(new EngineRefused(status, messageIn(body, status))), reject)
    })
    asked.end()
  })
}

async function whole(response: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function messageIn(body: unknown, status: number): string {
  if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message)
  return typeof body === 'string' && body.trim() !== '' ? body.trim() : `the engine answered ${status}`
}

function versionFor(header: string | string[] | undefined): string {
  const [, major, minor] = /^(\d+)\.(\d+)$/.exec(String(header)) ?? []
  const [newestMajor, newestMinor] = NEWEST_KNOWN
  const isKnown = Number(major) === newestMajor && Number(minor) <= newestMinor
  return isKnown ? `${major}.${minor}` : `${newestMajor}.${newestMinor}`
}

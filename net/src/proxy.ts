import { request } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { addressKind } from './address-kind.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy on the way to an address: the given one, else what the environment says for its scheme; null is the straight way. */
export function proxyFor(target: string, env: Environment, given?: string): URL | null {
  const url = new URL(target)
  if (given === undefined && (isLoopback(hostOf(url)) || isExcepted(url, either(env, 'no_proxy')))) return null
  const text = given ?? either(env, `${url.protocol.slice(0, -1)}_proxy`) ?? either(env, 'all_proxy')
  return text === undefined ? null : parseProxy(text)
}

/** A tunnel through the proxy, for plain and secure connections alike; what the proxy says against it is in the error. */
export function openTunnel(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const auth = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const headers = {
    host: place,
    ...(proxy.username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(auth).toString('base64')}` }),
  }
  return new Promise((resolve, reject) => {
    const target = { host: hostOf(proxy), port: Number(proxy.port || 80) }
    const connect = request({ ...target, method: 'CONNECT', path: place, headers, agent: false })
    const fail = (why: string, cause?: unknown) => {
      connect.destroy()
      reject(new Error(`the proxy ${proxy.host} should open a way to ${place}, ${why}`, { cause }))
    }
    connect.setTimeout(timeoutMs, () => fail(`it was silent for ${timeoutMs / 1000} s`))
    connect.on('error', error => fail(error.message, error))
    connect.on('response', response => fail(`it answered ${response.statusCode}`))
    connect.on('connect', (response, socket: Socket, head) => {
      if (response.statusCode !== 200) {
        socket.destroy()
        fail(`it answered ${response.statusCode} ${response.statusMessage}`.trimEnd())
        return
      }
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    connect.end()
  })
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function parseProxy(text: string): URL {
  const whole = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : null
  if (url?.protocol === 'http:') return url
  throw new Error(`a proxy is an http address like http://proxy:3128, found ${url?.protocol ?? 'no address'}`)
}

function either(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || addressKind(host) === 'loopback'
}

/** `*`, a name with everything below it, or a name with its port. */
function isExcepted(url: URL, exceptions = ''): boolean {
  const host = hostOf(url).toLowerCase()
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(text => text !== '')
    .some(text => {
      const [, name = text, port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
      if (port !== undefined && port !== (url.port || (url.protocol === 'https:' ? '443' : '80'))) return false
      const bare = name.replace(/^\*?\./, '')
      return name === '*' || host === bare || host.endsWith(`.${bare}`)
    })
}

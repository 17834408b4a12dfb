import { request } from 'node:http'
import type { Garbage } from './garbage.ts'

export interface OpenCall {
  readonly method: string
  readonly path: string
}

/** Every route the hub documents. */
export function documentedCalls(document: Readonly<Record<string, unknown>>): readonly OpenCall[] {
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => ({ method: method.toUpperCase(), path })),
  )
}

/** Sends nonsense to a route and answers the status; a stream is hung up on as soon as it begins. */
export function callWithNonsense(
  url: string,
  token: string,
  { method, path }: OpenCall,
  garbage: Garbage,
): Promise<number> {
  const filled = path.replaceAll(/\{[^}]+\}/g, () => encoded(garbage.text(40)).slice(0, 3000))
  const query = encoded(garbage.text(30))
  const name = garbage.pick([
    'limit',
    'cursor',
    'state',
    'label',
    'after',
    'tail',
    'since',
    'stream',
    'attempt',
    'owner',
    'failFast',
  ])
  const body = garbage.pick<() => Buffer | string>([
    () => garbage.bytes(300),
    () => JSON.stringify(garbage.value(5)),
    () => JSON.stringify({ jobs: [garbage.value(4), { command: garbage.value(1) }] }),
    () => `${'['.repeat(5000)}${']'.repeat(5000)}`,
    () => '{"command":"true","__proto__":{"a":1}}',
    () => '',
  ])()
  const headers = {
    authorization: garbage.pick([
      `Bearer ${token}`,
      `Bearer ${token}`,
      'Bearer',
      'Basic x',
      `Bearer ${'y'.repeat(300)}`,
    ]),
    'content-type': garbage.pick([
      'application/json',
      'application/json',
      'text/plain',
      'application/json; charset=utf-7',
      '/',
    ]),
    'idempotency-key': garbage.pick(['k', 'k'.repeat(300), '']),
    'last-event-id': garbage.pick(['', '1.2', '999999999999', '-1.-1.-1', 'abc', '1.99999999999999999999.0']),
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const call = request(`${url}${filled}?${name}=${query}`, { method, headers, agent: false }, reply => {
      resolve(reply.statusCode ?? 0)
      reply.destroy()
    })
    call.on('error', reject)
    call.end(method === 'GET' ? undefined : body)
  })
}

/** Halves of characters, which no encoding takes, become something that it does. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

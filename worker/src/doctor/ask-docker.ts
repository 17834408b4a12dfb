import { existsSync } from 'node:fs'
import { get } from 'node:http'
import { hasCode } from '@stoker/files'
import { z } from 'zod'

const SOCKET = '/var/run/docker.sock'
const PATIENCE_MS = 3_000
const MOST_CHARACTERS = 1_000_000

const Info = z.looseObject({
  ServerVersion: z.string(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
})

/** What the Docker engine of this machine says of itself, if it is there and may be asked. */
export type DockerAnswer =
  | { readonly kind: 'absent' }
  | { readonly kind: 'denied'; readonly socket: string }
  | { readonly kind: 'silent'; readonly socket: string; readonly why: string }
  | { readonly kind: 'answers'; readonly version: string; readonly hasNvidia: boolean }

export async function askDocker(socket = SOCKET): Promise<DockerAnswer> {
  if (!existsSync(socket)) return { kind: 'absent' }
  try {
    const info = Info.parse(JSON.parse(await getText(socket, '/info')))
    return { kind: 'answers', version: info.ServerVersion, hasNvidia: Object.hasOwn(info.Runtimes ?? {}, 'nvidia') }
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM')) return { kind: 'denied', socket }
    const why = hasCode(error, 'ECONNREFUSED') ? 'nobody listens on it' : `it gives no usable answer: ${String(error)}`
    return { kind: 'silent', socket, why: why.split('\n', 1).join('') }
  }
}

function getText(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ socketPath, path, timeout: PATIENCE_MS, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.length > MOST_CHARACTERS) request.destroy(new Error('it never ends'))
      })
      response.on('end', () => resolve(text)).on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error(`nothing came within ${PATIENCE_MS / 1000} s`)))
    request.on('error', reject)
  })
}

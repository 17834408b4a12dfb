import { request } from 'node:http'

/** One call to a container engine, as tests look at it from outside; rejects with the engine's own words. */
export function callEngine(socketPath: string, method: string, path: string, body?: Buffer | object): Promise<unknown> {
  const content = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json'
  return new Promise((resolve, reject) => {
    const headers = content === undefined ? {} : { 'content-type': type, 'content-length': content.length }
    const call = request({ socketPath, method, path, headers, agent: false }, answer => {
      const parts: Buffer[] = []
      answer.on('data', part => parts.push(part))
      answer.once('error', reject)
      answer.once('end', () => {
        const text = Buffer.concat(parts).toString()
        if ((answer.statusCode ?? 500) < 400)
          resolve(text.startsWith('[') || text.startsWith('{') ? lastJson(text) : text)
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text.trim()}`))
      })
    })
    call.once('error', reject)
    call.end(content)
  })
}

/** A long call answers with one document a line, the last of which says how it went. */
function lastJson(text: string): unknown {
  return JSON.parse(text.trim().split('\n').at(-1) ?? 'null')
}

export interface SeenContainer {
  readonly Id: string
  readonly Names: readonly string[]
  readonly State: string
  readonly Labels: Readonly<Record<string, string>>
}

export async function containersOf(socketPath: string): Promise<readonly SeenContainer[]> {
  return (await callEngine(socketPath, 'GET', '/containers/json?all=1')) as SeenContainer[]
}

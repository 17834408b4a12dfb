import { request } from 'node:http'

const ANSWER_MS = 30_000

/** Which engine a worker's containers are at, and how they are told from others'. */
export interface ContainerHome {
  /** Path of the engine's socket; null while there is none. */
  readonly engine: () => string | null
  /** The value of their label `stoker.worker_id`. */
  readonly workerId: string
}

interface Listed {
  readonly Id: string
  readonly Labels: Readonly<Record<string, string>>
}

/** Removes this worker's containers of which `isHeld` does not know the attempt; rejects when the engine does not answer. */
export async function removeStrays(
  { workerId, engine }: ContainerHome,
  isHeld: (key: string) => boolean,
): Promise<number> {
  const socket = engine()
  if (socket === null) return 0
  const filters = encodeURIComponent(JSON.stringify({ label: [`stoker.worker_id=${workerId}`] }))
  const text = await ask(socket, 'GET', `/containers/json?all=1&filters=${filters}`)
  const listed: readonly Listed[] = JSON.parse(text)
  const strays = listed.filter(({ Labels }) => !isHeld(Labels['stoker.attempt'] ?? ''))
  for (const { Id } of strays) await ask(socket, 'DELETE', `/containers/${Id}?force=1&v=1`)
  return strays.length
}

/** A container that is already gone is as good as removed. */
function ask(socketPath: string, method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, agent: false, timeout: ANSWER_MS }, answer => {
      const parts: Buffer[] = []
      answer.on('data', part => parts.push(part))
      answer.once('error', reject)
      answer.once('end', () => {
        const { statusCode = 500 } = answer
        const text = Buffer.concat(parts).toString()
        if (statusCode < 400 || statusCode === 404) resolve(text)
        else reject(new Error(`the container engine answered ${statusCode} to ${method} ${path}: ${text.trim()}`))
      })
    })
    call.once('timeout', () => call.destroy(new Error(`the container engine did not answer ${method} ${path}`)))
    call.once('error', reject)
    call.end()
  })
}

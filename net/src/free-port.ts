import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port nobody listened on a moment ago; another process may take it before the caller does. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error(`${host} should give a port, gave ${address}`)
  return address.port
}

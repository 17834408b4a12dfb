import { once } from 'node:events'
import { createServer } from 'node:net'
import { createClient } from '@stoker/client'
import { Failure } from '../failure.ts'

/** Finds out before anything is started whether the port is free, and who has it if not. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'EADDRINUSE')
      throw new Failure(`${host}:${port} should be free to listen on, ${String(cause)}`, { cause })
    const isHub = await answersAsHub(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
    const who = isHub ? 'a Stoker hub that already runs' : 'another program'
    throw new Failure(`port ${port} is taken by ${who}`, {
      code: 'port.taken',
      details: [...(isHub ? ['use it:  stoker list'] : []), `choose another port:  --port ${port + 1}`],
      cause,
    })
  } finally {
    server.close()
  }
}

async function answersAsHub(url: string): Promise<boolean> {
  const client = createClient({ url })
  try {
    return (await client.health()).status === 'ok'
  } catch {
    return false
  } finally {
    client.close()
  }
}

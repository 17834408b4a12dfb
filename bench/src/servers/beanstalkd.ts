import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { freePort } from '@stoker/net'
import { type Child, startChild } from '../processes/child.ts'
import { waitUntil } from '../wait-until.ts'

/** A server that syncs every change before its answer. */
export async function startBeanstalkd(command: string, folder: string): Promise<Child & { readonly port: number }> {
  await mkdir(folder)
  const port = await freePort()
  const child = await startChild({
    name: 'beanstalkd',
    command,
    args: ['-l', '127.0.0.1', '-p', String(port), '-b', folder, '-f', '0', '-V'],
    ready: /^bind /,
  })
  // It says that it has its port a moment before it listens there.
  await waitUntil('beanstalkd to listen', () => isListening(port))
  return { ...child, port }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  return once(socket, 'connect')
    .then(() => true)
    .catch(() => false)
    .finally(() => socket.destroy())
}

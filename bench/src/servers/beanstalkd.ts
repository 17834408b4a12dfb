import { mkdir } from 'node:fs/promises'
import { freePort } from '@stoker/net'
import { type Child, startChild } from '../processes/child.ts'

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
  return { ...child, port }
}

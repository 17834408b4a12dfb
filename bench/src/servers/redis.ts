import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@stoker/net'
import { type Child, startChild } from '../processes/child.ts'
import { findProgram } from '../processes/find-program.ts'

export interface Redis extends Child {
  readonly port: number
}

/** Redis that is as durable as our store: every command is synced before its answer. Null where it is not installed. */
export async function startRedis(scratch: string, path: string): Promise<Redis | null> {
  const command = findProgram('redis-server', path)
  if (command === null) return null
  const folder = join(scratch, 'redis')
  await mkdir(folder)
  const port = await freePort()
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    'auto-aof-rewrite-percentage': '0',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const child = await startChild({ name: 'redis-server', command, args, ready: /Ready to accept connections/ })
  return { ...child, port }
}

import { execFile } from 'node:child_process'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@stoker/net'
import { type Child, startChild } from '../processes/child.ts'
import { findProgram } from '../processes/find-program.ts'

const run = promisify(execFile)
/** Users that own no files of ours: PostgreSQL refuses to run as root. */
const OTHER_USERS = ['postgres', 'nobody']

export interface Postgres extends Child {
  readonly url: string
}

/** PostgreSQL with its durable defaults, in a folder of its own. Null where it is not installed. */
export async function startPostgres(scratch: string, path: string): Promise<Postgres | null> {
  const command = findProgram('postgres', path)
  const initdb = findProgram('initdb', path)
  if (command === null || initdb === null) return null
  const as = process.getuid?.() === 0 ? await otherUser() : undefined
  const folder = join(scratch, 'pg')
  await mkdir(folder, { mode: 0o700 })
  if (as !== undefined) await chown(folder, as.uid, as.gid)
  await run(initdb, ['-D', folder, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], {
    cwd: '/',
    ...as,
  })
  const port = await freePort()
  const settings = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder }
  const child = await startChild({
    name: 'postgres',
    command,
    args: ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    ready: /ready to accept connections/,
    stopSignal: 'SIGINT',
    as,
  })
  return { ...child, url: `postgres://bench@127.0.0.1:${port}/postgres` }
}

async function otherUser(): Promise<{ readonly uid: number; readonly gid: number }> {
  for (const user of OTHER_USERS) {
    const found = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]).catch(() => null)
    if (found !== null) return { uid: Number(found[0].stdout), gid: Number(found[1].stdout) }
  }
  throw new Error(`PostgreSQL refuses root, and of the users ${OTHER_USERS.join(', ')} none exists`)
}

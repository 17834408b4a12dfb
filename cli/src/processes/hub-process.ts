import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { saveContext } from '../contexts.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { type RetentionOptions, retentionArgs } from './retention-options.ts'

/** The context of the hub that was last started on this machine. */
export const LOCAL_CONTEXT = 'local'

export interface HubOptions extends RetentionOptions {
  readonly data?: string | undefined
  readonly host: string
  readonly port: number
}

export interface HubPlace {
  readonly folder: string
  readonly tokenFile: string
  readonly args: readonly string[]
}

export function hubPlace(io: Io, options: HubOptions): HubPlace {
  const { data, host, port } = options
  const folder = join(data ?? io.config.dataFolder, 'hub')
  const args = ['serve', '--data', folder, '--host', host, '--port', String(port), ...retentionArgs(options)]
  return { folder, tokenFile: join(folder, 'admin-token'), args }
}

export interface HubReady {
  readonly url: string
  readonly epoch: number
}

export function hubReadyOf(ready: Readonly<Record<string, unknown>>): HubReady {
  const { url, epoch } = ready
  if (typeof url === 'string' && typeof epoch === 'number') return { url, epoch }
  throw new Failure(`the hub should say its url and epoch, it said ${JSON.stringify(ready)}`)
}

/** Makes the hub known to the other commands: the token goes from its file into the context, nobody sees it. */
export async function adoptHub(io: Io, url: string, tokenFile: string): Promise<{ token: string; current: string }> {
  const token = (await readFile(tokenFile, 'utf8')).trim()
  const current = await saveContext(io.config.contextsFile, LOCAL_CONTEXT, { url, token })
  return { token, current }
}

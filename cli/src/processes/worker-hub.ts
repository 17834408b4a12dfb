import { readFile } from 'node:fs/promises'
import { chooseHub, clientOf } from '../connect.ts'
import { type Context, readContexts } from '../contexts.ts'
import type { Io } from '../io.ts'
import { isNewWorker, makeJoinToken, type WorkerOptions } from './worker-process.ts'

/** How a worker is told of its hub and let in. */
export interface JoiningOptions extends WorkerOptions {
  readonly hub?: string
  readonly context?: string | undefined
  readonly join?: string
  readonly joinFile?: string
}

/** What the command line says of the hub goes before what its context knows. */
export async function workerHub({ hub, context, pin, ca, proxy }: JoiningOptions, io: Io): Promise<Context> {
  const given = {
    ...(pin === undefined ? {} : { pin }),
    ...(ca === undefined ? {} : { ca }),
    ...(proxy === undefined ? {} : { proxy }),
  }
  if (hub === undefined) return { ...(await chooseHub(io, context)), ...given }
  const known = Object.values((await readContexts(io.config.contextsFile)).contexts)
  const same = known.find(one => one.url === hub) ?? { url: hub, token: io.config.token ?? null }
  return { ...same, ...given }
}

/** A worker that is known needs none, and only an admin's context can make one. */
export async function joinTokenOf(
  options: JoiningOptions,
  hub: Context,
  folder: string,
  io: Io,
): Promise<string | null> {
  if (options.join !== undefined) return options.join
  if (options.joinFile !== undefined) return (await readFile(options.joinFile, 'utf8')).trim()
  if (hub.token === null || !(await isNewWorker(folder))) return null
  const client = await clientOf(io, hub)
  try {
    return await makeJoinToken(client, `worker ${options.name ?? ''}`.trim())
  } finally {
    client.close()
  }
}

import { readFile } from 'node:fs/promises'
import { type Client, createClient } from '@stoker/client'
import type { Trust } from '@stoker/net'
import { type Context, contextNamed, readContexts } from './contexts.ts'
import { Failure } from './failure.ts'
import type { Io } from './io.ts'

/** Which hub: `--context`, then $STOKER_URL and $STOKER_TOKEN, then the current context. */
export async function chooseHub(io: Io, context: string | undefined): Promise<Context> {
  const known = await readContexts(io.config.contextsFile)
  if (context !== undefined) return contextNamed(known, context)
  const { url, token, pin } = io.config
  if (url !== undefined) {
    const same = Object.values(known.contexts).find(one => one.url === url)
    return { ...same, url, token: token ?? same?.token ?? null, ...(pin === undefined ? {} : { pin }) }
  }
  if (known.current === null) {
    throw new Failure('no hub is known yet', {
      code: 'context.none',
      details: ['start one on this machine:  stoker up', 'or name one:  stoker context add NAME --url URL'],
    })
  }
  const current = contextNamed(known, known.current)
  return token === undefined ? current : { ...current, token }
}

/** Talks to the chosen hub and lets its connections go afterwards, whatever happens. */
export async function withHub<T>(
  io: Io,
  options: { readonly context?: string | undefined },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await clientOf(io, await chooseHub(io, options.context))
  try {
    return await work(client)
  } finally {
    client.close()
  }
}

export async function clientOf(io: Io, hub: Context): Promise<Client> {
  return createClient({ url: hub.url, token: hub.token ?? undefined, trust: await trustOf(io, hub) })
}

async function trustOf(io: Io, { url, pin, ca, proxy }: Context): Promise<Trust> {
  return { pin, ca: ca === undefined ? undefined : await readFile(ca, 'utf8'), proxy: io.config.proxyFor(url, proxy) }
}

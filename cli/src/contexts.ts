import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readJsonOr, writeAtomic } from '@stoker/files'
import { nearest } from '@stoker/protocol'
import { z } from 'zod'
import { EXIT } from './exit-codes.ts'
import { Failure } from './failure.ts'

const Context = z.object({
  url: z.url(),
  token: z.string().nullable(),
  /** SHA-256 of the hub's key; without it the usual authorities vouch for an https hub. */
  pin: z.string().optional(),
  /** File of certificates that vouch for the hub. */
  ca: z.string().optional(),
  proxy: z.string().optional(),
})
const Contexts = z.object({ current: z.string().nullable(), contexts: z.record(z.string(), Context) })

/** A hub and the token for it, under a name. */
export type Context = Readonly<z.infer<typeof Context>>
export type Contexts = Readonly<z.infer<typeof Contexts>>

export async function readContexts(file: string): Promise<Contexts> {
  const parsed = Contexts.safeParse(await readJsonOr(file, { current: null, contexts: {} }))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Failure(`${file} should hold contexts, ${issue?.path.join('.') || 'the whole'} is wrong: ${issue?.message}`)
}

/** Only its owner can read the file: it holds tokens. */
export async function writeContexts(file: string, contexts: Contexts): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeAtomic(file, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
}

/** Adds or replaces a context; it becomes the current one if there is none yet. Tells which one is current now. */
export async function saveContext(file: string, name: string, context: Context): Promise<string> {
  const known = await readContexts(file)
  const current = known.current ?? name
  await writeContexts(file, { current, contexts: { ...known.contexts, [name]: context } })
  return current
}

export function contextNamed(contexts: Contexts, name: string): Context {
  const found = Object.hasOwn(contexts.contexts, name) ? contexts.contexts[name] : undefined
  if (found !== undefined) return found
  const names = Object.keys(contexts.contexts)
  const close = nearest(name, names)
  const hint = close === null ? '' : `; did you mean "${close}"?`
  throw new Failure(`no context "${name}"${hint} (known: ${names.join(', ') || 'none'})`, {
    exitCode: EXIT.notFound,
    code: 'context.not_found',
  })
}

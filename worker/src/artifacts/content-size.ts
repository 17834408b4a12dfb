import type { ContentSend } from '@stoker/net'

/** How large something is that nobody told the size of; needed before room is made for it. */
export async function contentSize(
  send: ContentSend,
  { path }: { readonly path: string },
  signal: AbortSignal,
): Promise<number> {
  const reply = await send({ method: 'HEAD', headers: {}, signal })
  await reply.text()
  const length = reply.header('content-length')
  if (reply.status >= 200 && reply.status < 300 && length !== null && /^\d+$/.test(length)) return Number(length)
  const found = reply.status >= 300 ? `an answer of ${reply.status}` : 'no content-length'
  throw new Error(`the size of ${path} is needed before it is fetched, its server gave ${found}; say it as "size"`)
}

import type { Bandwidth } from './bandwidth.ts'
import { Patience, type PatienceOptions } from './patience.ts'
import { type ContentName, type ContentSend, refusalOf } from './port.ts'

/** Large enough that its answer costs nothing; a connection that breaks costs only what the other side had not synced. */
const PIECE_BYTES = 64 * 1024 * 1024
/** Content this small is sent without asking first whether it is there. */
const ASK_FROM_BYTES = 64 * 1024

/** `read` gives exactly the bytes from `from` to before `to`, or throws: it never gives others than those that were hashed. */
export interface UploadSource extends ContentName {
  readonly read: (from: number, to: number) => AsyncIterable<Uint8Array>
}

export interface TransferOptions extends PatienceOptions {
  readonly bandwidth?: Bandwidth | undefined
  /** The most one request brings. */
  readonly pieceBytes?: number | undefined
  /** How many bytes are over there, as they move. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** Brings content to the other side in pieces, going on where it was after any break; what is there already is not sent. */
export async function uploadContent(
  send: ContentSend,
  source: UploadSource,
  options: TransferOptions = {},
): Promise<void> {
  const patience = new Patience(options)
  const reading: Reading = { failure: null }
  let offset = source.size < ASK_FROM_BYTES ? 0 : null
  let reached = 0
  for (let answered = false; ; answered = false) {
    try {
      const at: number | 'complete' = offset ?? (await ask(send, source, options))
      answered = offset === null
      if (at !== 'complete' && at > reached) {
        reached = at
        patience.moved()
      }
      const next = at === 'complete' ? at : await put(send, source, at, options, reading)
      options.onBytes?.(next === 'complete' ? source.size : next)
      if (next === 'complete' || at === 'complete') return
      answered = true
      if (next <= at) throw new Error(`content ${source.sha256} was sent from ${at}, the other side has ${next}`)
      offset = next
    } catch (error) {
      if (reading.failure !== null) throw reading.failure
      await patience.wait(error, answered)
      offset = null
    }
  }
}

async function ask(send: ContentSend, { sha256 }: ContentName, { signal }: TransferOptions) {
  const reply = await send({ method: 'HEAD', headers: {}, signal })
  await reply.text()
  if (reply.status === 200) return 'complete' as const
  if (reply.status !== 404) throw await refusalOf({ ...reply, text: async () => '' })
  const offset = Number(reply.header('upload-offset') ?? Number.NaN)
  if (Number.isSafeInteger(offset) && offset >= 0) return offset
  throw new Error(`content ${sha256} should be there in part or whole, the answer has no upload-offset`)
}

async function put(send: ContentSend, source: UploadSource, from: number, options: TransferOptions, reading: Reading) {
  const to = Math.min(source.size, from + (options.pieceBytes ?? PIECE_BYTES))
  const isWhole = from === 0 && to === source.size
  const reply = await send({
    method: 'PUT',
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(to - from),
      ...(isWhole ? {} : { 'content-range': `bytes ${from === to ? '*' : `${from}-${to - 1}`}/${source.size}` }),
    },
    body: paced(source.read(from, to), from, options, reading),
    signal: options.signal,
  })
  if (reply.status === 409 && reply.header('upload-offset') !== null) {
    await reply.text()
    return Number(reply.header('upload-offset'))
  }
  if (reply.status !== 200 && reply.status !== 201 && reply.status !== 202) throw await refusalOf(reply)
  const answer: unknown = JSON.parse((await reply.text()) || '{}')
  if (reply.status !== 202) return 'complete' as const
  const offset = (answer as { readonly offset?: unknown }).offset
  if (typeof offset === 'number') return offset
  throw new Error('a piece was taken, the answer does not say how far')
}

/** What the source itself failed with, however the sender passes it on: trying again would not help. */
interface Reading {
  failure: unknown
}

async function* paced(
  parts: AsyncIterable<Uint8Array>,
  from: number,
  { bandwidth, signal, onBytes }: TransferOptions,
  reading: Reading,
): AsyncGenerator<Uint8Array> {
  let at = from
  for await (const part of failing(parts, reading)) {
    await bandwidth?.take(part.length, signal)
    yield part
    at += part.length
    onBytes?.(at)
  }
}

async function* failing(parts: AsyncIterable<Uint8Array>, reading: Reading): AsyncGenerator<Uint8Array> {
  try {
    yield* parts
  } catch (error) {
    reading.failure = error
    throw error
  }
}

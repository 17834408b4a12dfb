import { setTimeout as sleep } from 'node:timers/promises'
import { retrying } from '@stoker/net'
import { Problem } from '@stoker/protocol'
import type { z } from 'zod'
import { HubRefused, HubUnreachable, isHubAway } from './errors.ts'
import type { HubReply, HubRequest, Transport } from './transport.ts'

/** A call; `repeatable` means that doing it twice does no more than doing it once. */
export interface Call {
  readonly method: HubRequest['method']
  readonly path: string
  readonly repeatable: boolean
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly silenceMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Caller {
  readonly url: string
  /** Answers only with success; what the hub refuses is thrown as HubRefused. */
  readonly open: (call: Call) => Promise<HubReply>
  readonly json: <T>(call: Call, schema: z.ZodType<T>) => Promise<T>
  readonly text: (call: Call) => Promise<string>
}

/** Three short waits: long enough for a hub that restarts, short enough to be told that there is none. */
const RETRY = { baseMs: 100, maxMs: 800, attempts: 4 }
const SILENCE_MS = 60_000
/** A hub that has heard enough for now says when to come again; nobody is kept longer than this without being told. */
const MOST_PATIENCE_MS = 60_000

export function createCaller(url: string, token: string | undefined, transport: Transport): Caller {
  const auth: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function once<T>(call: Call, read: (reply: HubReply) => Promise<T>): Promise<T> {
    const json: Record<string, string> = call.body === undefined ? {} : { 'content-type': 'application/json' }
    const { method, path, body, silenceMs = SILENCE_MS, signal } = call
    const headers = { ...auth, ...json, ...call.headers }
    try {
      const reply = await transport.send({ method, path, body, headers, silenceMs, signal })
      if (reply.status < 200 || reply.status > 299) throw await refusal(reply, url)
      return await read(reply)
    } catch (error) {
      call.signal?.throwIfAborted()
      throw error instanceof HubRefused ? error : new HubUnreachable(url, error)
    }
  }

  function withRetries<T>(call: Call, read: (reply: HubReply) => Promise<T>): Promise<T> {
    const isTemporary = (error: unknown) =>
      isHubAway(error) && (call.repeatable || !(error instanceof HubUnreachable) || error.neverSent)
    return whenWelcome(() => retrying(() => once(call, read), { ...RETRY, isTemporary, signal: call.signal }), call)
  }

  const text = (call: Call) => withRetries(call, reply => reply.text())
  return {
    url,
    text,
    open: call => withRetries(call, async reply => reply),
    json: async (call, schema) => parseAnswer(call, await text(call), schema),
  }
}

/** What is refused for its number had no effect: it is sent again when the hub says. */
async function whenWelcome<T>(act: () => Promise<T>, { signal }: Call): Promise<T> {
  for (let waitedMs = 0; ; ) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof HubRefused) || error.problem.code !== 'rate.limited') throw error
      const waitMs = (error.retryAfterSeconds ?? 1) * 1000 * (1 + Math.random() / 2)
      if (waitedMs + waitMs > MOST_PATIENCE_MS) throw error
      waitedMs += waitMs
      await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted())
    }
  }
}

async function refusal(reply: HubReply, url: string): Promise<HubRefused> {
  const text = await reply.text()
  const problem = Problem.safeParse(tryJson(text))
  if (problem.success) return new HubRefused(problem.data, secondsIn(reply.header('retry-after')))
  return new HubRefused({
    type: 'about:blank',
    title: 'The answer is not from a Stoker hub',
    status: reply.status,
    detail: `a Stoker hub should answer at ${url}, status ${reply.status} came with ${JSON.stringify(text.slice(0, 100))}`,
    code: 'answer.foreign',
  })
}

function secondsIn(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null
}

function parseAnswer<T>(call: Call, text: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(tryJson(text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue === undefined || issue.path.length === 0 ? 'the whole' : issue.path.join('.')
  throw new Error(
    `${call.method} ${call.path} should answer in the form this client knows, ${where} differs: ${issue?.message}`,
  )
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

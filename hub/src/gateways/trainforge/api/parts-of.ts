import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Multipart } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { badRequest } from './consumer-error.ts'

/** After the last byte its reader needs no more than a turn or two: nothing in it waits for a disk or a clock. */
const TURNS = 20

/** The parts of a form. Of some damaged bodies the reader never finds the end: one that has all bytes and says nothing more is refused. */
export async function* partsOf(
  request: FastifyRequest,
  limits: Readonly<Record<string, number>>,
): AsyncGenerator<Multipart, void> {
  const parts = request.parts({ limits })[Symbol.asyncIterator]()
  for (;;) {
    const given = new AbortController()
    const found = await Promise.race([parts.next(), stuck(request.raw, given.signal)]).finally(() => given.abort())
    if (found === 'stuck') throw badRequest('the body ends in the middle of a part')
    if (found.done === true) return
    yield found.value
  }
}

async function stuck(raw: IncomingMessage, signal: AbortSignal): Promise<'stuck'> {
  try {
    if (!raw.readableEnded) await once(raw, 'end', { signal })
  } catch {
    return new Promise(() => {})
  }
  for (let turn = 0; turn < TURNS && !signal.aborted; turn += 1) await nextTurn()
  return 'stuck'
}

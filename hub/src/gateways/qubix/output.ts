import type { Fence, RowWrite } from '@stoker/protocol'
import type { Streams } from '../../outputs/port.ts'

export interface Texts {
  readonly stdout: string
  readonly stderr: string
}

type LogLine = string | { readonly level?: string | null | undefined; readonly message: string }

const STDERR_LEVELS = /^(err|warn|crit|fatal)/i

/** Lines a worker sends while it works, by the stream they belong to. */
export function textsOf(lines: readonly LogLine[]): Texts {
  const texts = { stdout: '', stderr: '' }
  for (const line of lines) {
    const message = typeof line === 'string' ? line : line.message
    const level = typeof line === 'string' ? '' : (line.level ?? '')
    texts[STDERR_LEVELS.test(level) ? 'stderr' : 'stdout'] += message.endsWith('\n') ? message : `${message}\n`
  }
  return texts
}

/** The last lines that an end lists, unless the worker brought that stream while it worked: then they are known. */
export async function appendLastWords(
  streams: Streams,
  fence: Fence,
  texts: Texts,
  at: number,
): Promise<readonly RowWrite[]> {
  const { stdout, stderr } = await streams.sizes(fence)
  const unknown = { stdout: stdout > 0 ? '' : texts.stdout, stderr: stderr > 0 ? '' : texts.stderr }
  return appendTexts(streams, fence, unknown, at)
}

/** Behind what is there; the rows are to be committed with what the worker reports. */
export async function appendTexts(
  streams: Streams,
  fence: Fence,
  texts: Texts,
  at: number,
): Promise<readonly RowWrite[]> {
  const given = (['stdout', 'stderr'] as const).filter(stream => texts[stream] !== '')
  if (given.length === 0) return []
  const sizes = await streams.sizes(fence)
  return streams.append(
    given.map(stream => ({ fence, stream, offset: sizes[stream], at, bytes: Buffer.from(texts[stream]) })),
  )
}

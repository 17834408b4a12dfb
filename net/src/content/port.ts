/** One exchange about one content; the sender knows where it is and how to be let in. */
export interface ContentRequest {
  readonly method: 'HEAD' | 'GET' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: AsyncIterable<Uint8Array> | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ContentReply {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: () => Promise<string>
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A rejection means that no whole answer came back: the connection failed, or was silent for too long. */
export type ContentSend = (request: ContentRequest) => Promise<ContentReply>

/** Content is named by what it is. */
export interface ContentName {
  readonly sha256: string
  readonly size: number
}

/** The other side answered no; `code` is that of its problem, empty if it gave none. */
export class ContentRefused extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'ContentRefused'
    this.status = status
    this.code = code
  }
}

export async function refusalOf(reply: ContentReply): Promise<ContentRefused> {
  const problem = tryJson(await reply.text())
  const fields = typeof problem === 'object' && problem !== null ? (problem as Record<string, unknown>) : {}
  const text = [fields.detail, fields.title].find(one => typeof one === 'string' && one !== '')
  const code = typeof fields.code === 'string' ? fields.code : ''
  return new ContentRefused(reply.status, code, typeof text === 'string' ? text : `the answer was ${reply.status}`)
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

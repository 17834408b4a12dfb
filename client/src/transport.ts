/** One HTTP request to the hub; `silenceMs` is how long the connection may say nothing, 0 for ever. */
export interface HubRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** A stream needs its `content-length` among the headers. A part is not looked at any more when the next is asked for. */
  readonly body?: string | AsyncIterable<Uint8Array> | undefined
  readonly silenceMs: number
  readonly signal?: AbortSignal | undefined
}

export interface HubReply {
  readonly status: number
  readonly contentType: string
  readonly header: (name: string) => string | null
  readonly text: () => Promise<string>
  readonly bytes: AsyncIterable<Uint8Array>
}

/** How requests reach the hub; a rejection means that no whole answer came back. */
export interface Transport {
  readonly send: (request: HubRequest) => Promise<HubReply>
  readonly close: () => void
}

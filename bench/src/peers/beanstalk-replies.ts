/** One answer of the server: its words, and the bytes that follow where the last word counts them. */
export interface Reply {
  readonly words: readonly string[]
  readonly body: string
}

const WITH_BODY = new Set(['RESERVED', 'OK'])
const END = '\r\n'

/** Cuts the stream into answers, wherever the network cut it; everything in it is ASCII. */
export class ReplyParser {
  #rest = ''

  push(text: string): Reply[] {
    this.#rest += text
    const replies: Reply[] = []
    let from = 0
    for (;;) {
      const lineEnd = this.#rest.indexOf(END, from)
      if (lineEnd < 0) break
      const words = this.#rest.slice(from, lineEnd).split(' ')
      const bodyStart = lineEnd + END.length
      const bytes = WITH_BODY.has(words[0] ?? '') ? Number(words.at(-1)) : null
      const next = bytes === null ? bodyStart : bodyStart + bytes + END.length
      if (next > this.#rest.length) break
      replies.push({ words, body: bytes === null ? '' : this.#rest.slice(bodyStart, bodyStart + bytes) })
      from = next
    }
    this.#rest = this.#rest.slice(from)
    return replies
  }
}

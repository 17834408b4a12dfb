/**
 * The last event id of a stream, counted where a block ends. A ping may carry one without being an event: it says that
 * there was nothing to say up to there, and the parser does not tell of it.
 */
export class PlaceTracker {
  #line = ''
  #pending: string | undefined
  #place: string | undefined

  feed(text: string): string | undefined {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') this.#place = this.#pending
      else if (line.startsWith('id:')) this.#pending = line.slice(3).trim()
    }
    return this.#place
  }
}

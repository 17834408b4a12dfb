/** What was said in pieces, until the whole text comes: a person sees each word once, and all of them. */
export class SpokenPieces {
  #said = ''

  /** Gives the piece back. */
  add(piece: string): string {
    this.#said += piece
    return piece
  }

  /** What the whole says beyond its pieces: only its end, or, where they differ, all of it as a text of its own. */
  close(whole: string): { readonly rest: string; readonly isNew: boolean } {
    const said = this.#said
    this.#said = ''
    if (said === '') return { rest: whole, isNew: true }
    if (whole.startsWith(said)) return { rest: whole.slice(said.length), isNew: false }
    return said.trim() === whole.trim() ? { rest: '', isNew: false } : { rest: whole, isNew: true }
  }
}

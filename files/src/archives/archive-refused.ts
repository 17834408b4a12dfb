/** The archive, or the folder to be packed, holds something that is not taken; the sentence names it and the limit or rule. */
export class ArchiveRefused extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'ArchiveRefused'
  }
}

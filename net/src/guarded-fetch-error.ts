/** Stable names for why a fetch was refused or failed. */
export type GuardedFetchCode =
  | 'fetch.url'
  | 'fetch.scheme'
  | 'fetch.address'
  | 'fetch.unresolved'
  | 'fetch.redirects'
  | 'fetch.status'
  | 'fetch.size'
  | 'fetch.timeout'
  | 'fetch.network'

/** The message is a sentence for people with the two facts that disagree; the code is for programs. */
export class GuardedFetchError extends Error {
  readonly code: GuardedFetchCode

  constructor(code: GuardedFetchCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'GuardedFetchError'
    this.code = code
  }
}

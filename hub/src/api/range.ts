/** Bytes from `first` to `last`, both included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/** The one range a header asks for; null when all is to be sent, as for a header that is not understood; 'outside' when none of it exists. */
export function parseRange(header: string | undefined, size: number): ByteRange | null | 'outside' {
  const [, from = '', to = ''] = ONE_RANGE.exec(header ?? '') ?? []
  if (from === '' && to === '') return null
  if (from === '') {
    const count = Math.min(Number(to), size)
    return count === 0 ? 'outside' : { first: size - count, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return null
  return first >= size ? 'outside' : { first, last }
}

/** Whether a header such as If-None-Match names the tag, weakly or not. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some(each => {
    const named = each.trim().replace(/^W\//, '')
    return named === '*' || named === tag
  })
}

const NEWLINE = 10

const FOUR_NEWLINES = 0x0a0a0a0a
const LOW_BITS = 0x7f7f7f7f

/** Looks at four bytes at a time, as every byte of output passes here on the hub's main thread. */
export function countNewlines(bytes: Uint8Array): number {
  const head = Math.min(-bytes.byteOffset & 3, bytes.length)
  if (bytes.length - head < 4) return countSlowly(bytes, 0, bytes.length)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >>> 2)
  let count = countSlowly(bytes, 0, head)
  for (let i = 0; i < words.length; i++) {
    const differing = (words[i] ?? 0) ^ FOUR_NEWLINES
    // The top bit of each byte of `equal` is set exactly where that byte of `differing` is zero.
    let equal = ~(((differing & LOW_BITS) + LOW_BITS) | differing | LOW_BITS)
    for (; equal !== 0; equal &= equal - 1) count++
  }
  return count + countSlowly(bytes, head + words.length * 4, bytes.length)
}

function countSlowly(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let i = from; i < to; i++) if (bytes[i] === NEWLINE) count++
  return count
}

/** The index just behind the nth newline, counted from 1, or -1 when there are fewer. */
export function behindNewline(bytes: Uint8Array, nth: number): number {
  let at = -1
  for (let n = 0; n < nth; n++) {
    at = bytes.indexOf(NEWLINE, at + 1)
    if (at === -1) return -1
  }
  return at + 1
}

export function endsWithNewline(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === NEWLINE
}

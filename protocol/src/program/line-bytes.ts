export const NEWLINE = 10
export const CARRIAGE_RETURN = 13

export function withoutReturn(line: Uint8Array): number {
  return line[line.length - 1] === CARRIAGE_RETURN ? line.length - 1 : line.length
}

/** How much of a cut line is left when the character that was cut goes too. */
export function wholeCharacters(line: Uint8Array): number {
  let start = line.length - 1
  while (start > line.length - 4 && isInside(line[start])) start -= 1
  const first = line[start] ?? 0
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return start + length > line.length ? start : line.length
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

export function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

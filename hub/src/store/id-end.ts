/** Fewer digits would name several jobs of any hub in use. */
export const SHORTEST_END = 4

/** The hex digits of an id's end as a person typed them, without dashes; null when they are not hex digits. */
export function parseIdEnd(end: string): string | null {
  const digits = end.replaceAll('-', '').toLowerCase()
  return /^[0-9a-f]{1,32}$/.test(digits) ? digits : null
}

export function hasIdEnd(id: string, digits: string): boolean {
  return id.replaceAll('-', '').endsWith(digits)
}

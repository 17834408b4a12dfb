/** As clients of this dialect read times. */
export function isoTime(at: number): string {
  return new Date(at).toISOString()
}

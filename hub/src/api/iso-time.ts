const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Some times come from workers' clocks: whatever they say, the text is a date with a four-digit year. */
export function isoTime(ms: number): string {
  const sane = ms > 0 ? Math.min(ms, LAST_MS) : 0
  return new Date(sane).toISOString()
}

export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

/** One event as clients of this dialect read it: name before data, data on one line, then its number if it has one. */
export function sseText(event: string, data: unknown, id: number | null): string {
  const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n`
  return id === null ? `${text}\n` : `${text}id: ${id}\n\n`
}

export function pingText(now: number): string {
  return `: ping - ${new Date(now).toISOString()}\n\n`
}

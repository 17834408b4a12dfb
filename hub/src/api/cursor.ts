/** Where the next page begins; opaque to callers, who must not build on its form. */
export function cursorAfter(seq: number): string {
  return Buffer.from(`s${seq}`).toString('base64url')
}

/** Null for anything that no page ever gave out. */
export function parseCursor(cursor: string): number | null {
  const seq = /^s(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]
  return seq !== undefined && cursorAfter(Number(seq)) === cursor ? Number(seq) : null
}

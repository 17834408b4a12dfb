/** What went wrong, as a person wrote it. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

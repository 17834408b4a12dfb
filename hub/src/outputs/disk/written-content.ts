/** What byte each place of each stream holds, so that a reader can tell without having been told. */
export function contentByte(job: number, offset: number): number {
  return (offset * 7 + job) % 61 === 0 ? 10 : 65 + ((offset + job * 3) % 57)
}

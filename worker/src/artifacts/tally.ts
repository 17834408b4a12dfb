/** Adds up what many transfers have moved: each tells its own bytes, the sum is told on. */
export function tally(tell: (bytes: number) => void): (index: number, bytes: number) => void {
  const parts = new Map<number, number>()
  let sum = 0
  return (index, bytes) => {
    sum += bytes - (parts.get(index) ?? 0)
    parts.set(index, bytes)
    tell(sum)
  }
}

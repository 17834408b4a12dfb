/** Calls `act` so often with so many unanswered at once; answers calls per second. */
export async function rateOf(
  times: number,
  inFlight: number,
  act: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0
  const lane = async () => {
    while (next < times) {
      next += 1
      await act(next - 1)
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: Math.min(inFlight, times) }, lane))
  return (times * 1000) / (performance.now() - startedAt)
}

/** The wall clock with a fraction: `Date.now()` of every process on this machine counts the same whole milliseconds. */
export function fineWallClock(): () => number {
  const coarse = Date.now()
  while (Date.now() === coarse) {
    // the next whole millisecond begins when this ends
  }
  const atWall = Date.now()
  const atMonotonic = performance.now()
  return () => atWall + performance.now() - atMonotonic
}

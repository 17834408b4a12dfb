/** Longer than two looks at the clocks take; above it somebody else had the processor between them. */
const QUICK_MS = 0.02
const TRIES = 50

/** The wall clock with a fraction: `Date.now()` of every process on this machine counts the same whole milliseconds. */
export function fineWallClock(): () => number {
  let best = nextMillisecond()
  for (let i = 0; i < TRIES && best.doubtMs > QUICK_MS; i += 1) {
    const other = nextMillisecond()
    if (other.doubtMs < best.doubtMs) best = other
  }
  const { atWall, atMonotonic } = best
  return () => atWall + performance.now() - atMonotonic
}

/** Where a whole millisecond began on both clocks, and how far the two may be apart. */
function nextMillisecond() {
  const coarse = Date.now()
  for (let before = performance.now(); ; ) {
    const atWall = Date.now()
    const atMonotonic = performance.now()
    if (atWall !== coarse) return { atWall, atMonotonic, doubtMs: atMonotonic - before }
    before = atMonotonic
  }
}

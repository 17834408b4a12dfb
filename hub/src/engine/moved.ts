/** A sum that grows or shrinks. Written as `sign * by`, nothing taken away is -0, and V8 keeps whatever that was added to in a box on the heap. */
export function moved(sum: number, by: number, sign: 1 | -1): number {
  return sign === 1 ? sum + by : sum - by
}

/** A job's number out of a column of doubles, 0 where there is none. V8 keeps integers below 2^31 in place and gives other numbers, and whatever comes out of such a column, a box on the heap: with boxed job numbers every map, comparison and piece of JSON they go into is slower. */
export function jobNumberAt(column: Float64Array, slot: number): number {
  const number = column[slot] ?? 0
  const small = number | 0
  return small === number ? small : number
}

export function widened<A extends Float64Array | Int32Array | Uint16Array | Uint8Array>(from: A, to: A): A {
  to.set(from)
  return to
}

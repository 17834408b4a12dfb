/** Numbers from 0 to 1 that a seed repeats exactly. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A new seed unless one is given to repeat a run; it is printed either way. */
export function printedSeed(given: string | undefined): number {
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given)
  process.stdout.write(`seed ${seed}; set STOKER_SEED=${seed} to repeat\n`)
  return seed
}

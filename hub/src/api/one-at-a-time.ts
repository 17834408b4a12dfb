/** Runs work in the order it is given, one after the other, whatever becomes of it. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export function oneAtATime(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const run = last.then(work)
    last = run.catch(() => {})
    return run
  }
}

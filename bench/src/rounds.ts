/** One who takes part; `run` does the work once and answers its figure. */
export interface Contestant {
  readonly name: string
  readonly run: () => Promise<number>
}

export interface RaceOptions {
  readonly rounds: number
  /** No new round begins after this, but the first five always do. */
  readonly budgetMs: number
  /** How long each runs before the first round that counts, one round if it is not said: a server runs for weeks, nobody is measured while its code is still being compiled. */
  readonly warmUpMs?: number
}

const FEWEST_ROUNDS = 5

/** All take turns, and the first of a round is the second of the next: a disturbance meets them alike. */
export async function race(
  contestants: readonly Contestant[],
  { rounds, budgetMs, warmUpMs }: RaceOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const figures = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (const { run } of contestants) await warmUp(run, warmUpMs)
  const until = performance.now() + budgetMs
  for (let round = 0; round < rounds; round += 1) {
    if (round >= FEWEST_ROUNDS && performance.now() > until) break
    for (const { name, run } of rotated(contestants, round)) figures.get(name)?.push(await run())
  }
  return figures
}

async function warmUp(run: Contestant['run'], ms: number | undefined): Promise<void> {
  if (ms === undefined) await run()
  const until = performance.now() + (ms ?? 0)
  while (performance.now() < until) await run()
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const start = list.length === 0 ? 0 : by % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}

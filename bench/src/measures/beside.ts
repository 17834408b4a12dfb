import type { PeerName } from '../goals/goal.ts'
import type { Found, NotMeasured } from '../goals/goals.ts'
import { race } from '../rounds.ts'
import { quantile } from '../statistics.ts'

/** What a peer does once, or why it cannot. */
type Turn<T> = (() => Promise<T>) | NotMeasured
type Turns<T> = Readonly<Partial<Record<PeerName, Turn<T>>>>

/** A machine that cannot have a peer, or not what the peer needs besides, measures the others. */
export async function opened<P extends object>(
  opening: Promise<P | NotMeasured>,
  prepare: (peer: P) => Promise<void> = async () => {},
): Promise<P | NotMeasured> {
  try {
    const peer = await opening
    if (!('notMeasured' in peer)) await prepare(peer)
    return peer
  } catch (error) {
    return { notMeasured: `it would not start: ${error instanceof Error ? error.message : String(error)}` }
  }
}

export function turn<P extends object, T>(peer: P | NotMeasured, run: (peer: P) => Promise<T>): Turn<T> {
  return 'notMeasured' in peer ? peer : () => run(peer)
}

/** Five rounds of all who are there. */
export async function raceBeside(ours: () => Promise<number>, peers: Turns<number>): Promise<Found> {
  const figures = await race(contestantsOf({ ours, ...peers }), { rounds: 5, budgetMs: 0 })
  return foundIn(figures, peers)
}

/** The same for what is a list of waits each time: the middle and the worst percent of every round. */
export async function raceWaits(
  ours: () => Promise<readonly number[]>,
  peers: Turns<readonly number[]>,
): Promise<{ readonly p50: Found; readonly p99: Found }> {
  const p99 = new Map<string, number[]>()
  const contestants = contestantsOf({ ours, ...peers }).map(({ name, run }) => ({
    name,
    run: async () => {
      const waits = await run()
      p99.set(name, [...(p99.get(name) ?? []), quantile(waits, 0.99)])
      return quantile(waits, 0.5)
    },
  }))
  const p50 = await race(contestants, { rounds: 5, budgetMs: 0 })
  const withoutWarmUp = new Map([...p99].map(([name, all]) => [name, all.slice(1)]))
  return { p50: foundIn(p50, peers), p99: foundIn(withoutWarmUp, peers) }
}

function contestantsOf<T>(turns: Readonly<Record<string, Turn<T>>>) {
  return Object.entries(turns).flatMap(([name, run]) => (typeof run === 'function' ? [{ name, run }] : []))
}

function foundIn(figures: ReadonlyMap<string, readonly number[]>, peers: Turns<unknown>): Found {
  const rounds = Object.entries(peers).map(([name, run]) => [
    name,
    typeof run === 'function' ? (figures.get(name) ?? []) : run,
  ])
  return { ours: figures.get('ours') ?? [], peers: Object.fromEntries(rounds) }
}
